/**
 * The editor: CodeMirror in a component. Import it with `import()` only (`lazy.tsx` does), so that
 * pages without an editor load nothing of it.
 *
 * The text lives in CodeMirror and never comes back through a property: a page that rendered late
 * would otherwise undo what was typed in the meantime. Types come from a service that may be there,
 * come later or never come; everything else works without it.
 *
 * Styles are put in with the nonce of `<meta name="csp-nonce">`. Colours are the custom properties
 * of `ui/tokens.css`, so that light and dark change without anything being made anew.
 */
import { useEffect, useId, useLayoutEffect, useRef } from "preact/hooks"
import type { CodeEditorProps } from "./code-editor-props.ts"
import { createEditor, type Editor } from "./code-mirror/create-editor.ts"

export function CodeEditor(props: CodeEditorProps) {
  return <Document key={`${props.language} ${props.path}`} {...props} />
}

function Document(props: CodeEditorProps) {
  const { handle, readOnly = false, label, goTo, typeService } = props
  const place = useRef<HTMLDivElement>(null)
  const editor = useRef<Editor | null>(null)
  const hintId = useId()
  // What is called is always what was given last, without the editor being told.
  const latest = useRef(props)
  latest.current = props

  useLayoutEffect(() => {
    if (!place.current) return
    const { value, language, path } = latest.current
    const made = createEditor(place.current, {
      text: value,
      language,
      path,
      label,
      hintId,
      isReadOnly: readOnly,
      onChange: (text) => latest.current.onChange?.(text),
      onSave: () => call(latest.current.onSave),
      onRun: () => call(latest.current.onRun),
      onFormat: (outcome) => latest.current.onFormat?.(outcome),
    })
    editor.current = made
    if (handle) handle.current = made
    return () => {
      made.stop()
      editor.current = null
      if (handle) handle.current = null
    }
    // Made once: the effects below tell it what has changed.
  }, [])

  // At once: a key may be the next thing that happens.
  useLayoutEffect(() => editor.current?.setReadOnly(readOnly), [readOnly])
  useLayoutEffect(() => editor.current?.setLabel(label), [label])
  useEffect(() => editor.current?.setTypeService(typeService), [typeService])
  useEffect(() => {
    if (goTo) editor.current?.goToLine(goTo.line, goTo.column)
  }, [goTo])

  return (
    <div class="code-editor" ref={place}>
      <span id={hintId} hidden>
        {readOnly
          ? "Read only."
          : "Tab indents. To leave the editor, press Escape and then Tab. Control-M switches indenting with Tab off and on."}
      </span>
    </div>
  )
}

/** Whether there was somebody to call: if not, the key is the browser's. */
function call(listener: (() => void) | undefined): boolean {
  listener?.()
  return listener !== undefined
}
