/**
 * Loads the editor and the diff view when they are first shown; until then, and when they cannot be
 * loaded, plain text.
 */

import { useLoaded } from "../ui/use-loaded.ts"
import type { CodeEditorProps, EditorLanguage } from "./code-editor-props.ts"
import type { DiffViewProps } from "./diff-view-props.ts"

export function LazyCodeEditor(props: CodeEditorProps) {
  const { component: Editor } = useLoaded(loadCodeEditor)
  return Editor ? <Editor {...props} /> : <Plain {...props} text={props.value} />
}

export function LazyDiffView(props: DiffViewProps) {
  const { component: View } = useLoaded(loadDiffView)
  return View ? (
    <View {...props} />
  ) : (
    <Plain text={props.after} label={props.label} language="text" />
  )
}

const loadCodeEditor = async () => (await import("./code-editor.tsx")).CodeEditor
const loadDiffView = async () => (await import("./diff-view.tsx")).DiffView

function Plain(props: {
  readonly text: string
  readonly label: string
  readonly language: EditorLanguage
}) {
  const { text, label, language } = props
  const numbers = text.split("\n").map((_, index) => index + 1)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area needs keyboard access
    <section class={`code-editor-plain plain-${language}`} aria-label={label} tabIndex={0}>
      <pre class="plain-numbers" aria-hidden="true">
        {numbers.join("\n")}
      </pre>
      <pre>{text}</pre>
    </section>
  )
}
