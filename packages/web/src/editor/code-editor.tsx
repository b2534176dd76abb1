/**
 * The editor: CodeMirror in a component. Import it with `import()` only (`lazy.tsx` does), so that
 * pages without an editor do not load it.
 *
 * CodeMirror owns the text; it is not a property, because a late render would undo what was typed
 * in the meantime. Without the type service, everything else works.
 *
 * Styles have the nonce of `<meta name="csp-nonce">`. Colours are the custom properties of
 * `ui/styles/tokens.css`, so that the colour scheme can change at any time.
 */
import { useEffect, useId, useLayoutEffect, useRef } from "preact/hooks"
import type { CodeEditorProps } from "./code-editor-props.ts"
import { createEditor, type Editor } from "./code-mirror/create-editor.ts"

export function CodeEditor(props: CodeEditorProps) {
  return <Document key={props.language} {...props} />
}

function Document(props: CodeEditorProps) {
  const {
    handle,
    readOnly = false,
    isWrapped = false,
    label,
    goTo,
    typeService,
    path,
    locked,
    takeFocus,
  } = props
  const host = useRef<HTMLDivElement>(null)
  const editor = useRef<Editor | null>(null)
  const hintId = useId()
  // Listeners always call the latest properties.
  const latest = useRef(props)
  latest.current = props

  useLayoutEffect(() => {
    if (!host.current) return
    const { value, language } = latest.current
    const created = createEditor(host.current, {
      text: value,
      language,
      label,
      hintId,
      isReadOnly: readOnly,
      onChange: (text) => latest.current.onChange?.(text),
      onSave: () => call(latest.current.onSave),
      onRun: () => call(latest.current.onRun),
      onFormat: (outcome) => latest.current.onFormat?.(outcome),
      formatCode: async (code) => latest.current.formatCode?.(code),
      onDefinition: (definition) => latest.current.onDefinition?.(definition),
      onEdits: (other, edits) => latest.current.onEdits?.(other, edits),
      onProblem: (message) => latest.current.onProblem?.(message),
    })
    editor.current = created
    if (handle) handle.current = created
    return () => {
      created.stop()
      editor.current = null
      if (handle) handle.current = null
    }
    // Created once: the effects below apply changes.
  }, [])

  // In layout effects, so that they apply before the next key.
  useLayoutEffect(() => editor.current?.setReadOnly(readOnly), [readOnly])
  useLayoutEffect(() => editor.current?.setWrapped(isWrapped), [isWrapped])
  useLayoutEffect(() => editor.current?.setLabel(label), [label])
  useEffect(() => editor.current?.setTypes(typeService, path), [typeService, path])
  const { valId, version } = locked ?? {}
  useEffect(() => {
    if (valId !== undefined && version !== undefined)
      typeService?.setLocked(path, { valId, version })
  }, [typeService, path, valId, version])
  useEffect(() => {
    if (goTo) editor.current?.goToLine(goTo.line, goTo.column)
  }, [goTo])

  // An effect, because a dialog that closes gives the focus back before it.
  useEffect(() => {
    if (!takeFocus) return
    editor.current?.focus()
    takeFocus()
  }, [takeFocus])

  return (
    <div class="code-editor" ref={host}>
      <span id={hintId} hidden>
        {readOnly
          ? "Read only."
          : "Tab indents. To leave the editor, press Escape and then Tab. Control-M switches indenting with Tab off and on."}
      </span>
    </div>
  )
}

/** Whether there is a listener: if not, the browser handles the key. */
function call(listener: (() => void) | undefined): boolean {
  listener?.()
  return listener !== undefined
}
