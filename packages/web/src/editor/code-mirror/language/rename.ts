import type { Extension } from "@codemirror/state"
import { type EditorView, keymap, showDialog } from "@codemirror/view"
import { ask, type LanguageContext, notReady } from "./language-context.ts"

const namePattern = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u

/** F2 asks for a new name and replaces the old one wherever it means the same. */
export function rename(context: LanguageContext): Extension {
  async function start(view: EditorView): Promise<void> {
    const position = view.state.selection.main.head
    const found = await ask(context, view, "rename", { position })
    if (!found) return context.onProblem(notReady)
    if (!found.ok) return context.onProblem(found.message)
    const { doc } = view.state
    const { result } = showDialog(view, {
      label: "New name",
      input: { type: "text", value: found.name, name: "name", "aria-label": "New name" },
      submitLabel: "Rename",
      focus: true,
      top: true,
    })
    const form = await result
    view.focus()
    const input = form?.elements.namedItem("name")
    const name = input instanceof HTMLInputElement ? input.value.trim() : found.name
    if (name === found.name) return
    if (!namePattern.test(name)) return context.onProblem(`Cannot rename: "${name}" is not a name`)
    if (view.state.doc !== doc)
      return context.onProblem("Cannot rename: the code has changed in the meantime")
    const edits = Map.groupBy(
      found.places.map(({ path, from, to, prefix, suffix }) => ({
        path,
        from,
        to,
        text: prefix + name + suffix,
      })),
      ({ path }) => path,
    )
    const here = edits.get(context.path) ?? []
    view.dispatch({
      changes: here.map(({ from, to, text }) => ({ from, to, insert: text })),
      userEvent: "rename",
    })
    for (const [path, others] of edits) if (path !== context.path) context.onEdits(path, others)
  }

  return keymap.of([
    {
      key: "F2",
      run(view) {
        if (view.state.readOnly) return false
        void start(view)
        return true
      },
    },
  ])
}
