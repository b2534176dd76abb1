import type { Extension } from "@codemirror/state"
import { EditorView, keymap } from "@codemirror/view"
import { ask, type LanguageContext, notReady } from "./language-context.ts"

/** F12, and a click with Control or Command. Alt adds cursors instead. */
export function goToDefinition(context: LanguageContext): Extension {
  async function go(view: EditorView, position: number): Promise<void> {
    const found = await ask(context, view, "definition", { position })
    if (found === undefined) context.onProblem(notReady)
    else if (found === null) context.onProblem("There is no definition of what is at the cursor")
    else if (found.kind === "here") {
      view.dispatch({
        selection: { anchor: found.from, head: found.to },
        effects: EditorView.scrollIntoView(found.from, { y: "center" }),
        userEvent: "select.definition",
      })
      view.focus()
    } else context.onDefinition(found)
  }

  return [
    EditorView.clickAddsSelectionRange.of((event) => event.altKey),
    EditorView.domEventHandlers({
      mousedown(event, view) {
        const isWanted = (event.ctrlKey || event.metaKey) && event.button === 0
        const position = isWanted ? view.posAtCoords(event) : null
        if (position === null) return false
        event.preventDefault()
        void go(view, position)
        return true
      },
    }),
    keymap.of([
      {
        key: "F12",
        run(view) {
          void go(view, view.state.selection.main.head)
          return true
        },
      },
    ]),
  ]
}
