/**
 * The editor and the view of differences for pages: they are loaded when they are first shown, and
 * the text is there as plain text until then.
 */
import type { ComponentType } from "preact"
import { useEffect, useState } from "preact/hooks"
import type { CodeEditorProps } from "./code-editor-props.ts"
import type { DiffViewProps } from "./diff-view-props.ts"

export function LazyCodeEditor(props: CodeEditorProps) {
  const Editor = useLoaded(loadCodeEditor)
  return Editor ? <Editor {...props} /> : <Plain text={props.value} label={props.label} />
}

export function LazyDiffView(props: DiffViewProps) {
  const View = useLoaded(loadDiffView)
  return View ? <View {...props} /> : <Plain text={props.after} label={props.label} />
}

const loadCodeEditor = async () => (await import("./code-editor.tsx")).CodeEditor
const loadDiffView = async () => (await import("./diff-view.tsx")).DiffView

/**
 * Undefined until it is there. What cannot be loaded is tried again with the next one that is
 * shown.
 */
function useLoaded<Props>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> | undefined {
  const [loaded, setLoaded] = useState<{ readonly component: ComponentType<Props> }>()
  useEffect(() => {
    let isGone = false
    load().then(
      (component) => {
        if (!isGone) setLoaded({ component })
      },
      (error: unknown) => console.warn("Cannot load the editor:", error),
    )
    return () => {
      isGone = true
    }
  }, [load])
  return loaded?.component
}

function Plain({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse must be able to scroll it.
    <section class="code-editor-plain" aria-label={label} tabIndex={0}>
      <pre>{text}</pre>
    </section>
  )
}
