import { type CompletionContext, startCompletion } from "@codemirror/autocomplete"
import { type Extension, Prec, type Text } from "@codemirror/state"
import { EditorView } from "@codemirror/view"

/** A completion that the types have come too late for. */
export interface LateCompletion {
  /** Notes what was asked for, and whether the types had an answer. */
  note(context: CompletionContext, isFound: boolean): void
  /** Asks again, if text and cursor are still where they were. */
  askAgain(view: EditorView): void
  /** Escape means that the list is no longer wanted. */
  readonly extension: Extension
}

/** Before a name: names after a dot are those of a type. */
const memberPattern = /\.\s*[\w$]*$/

export function createLateCompletion(): LateCompletion {
  let asked: { readonly doc: Text; readonly position: number } | undefined
  return {
    note({ state: { doc }, pos: position, explicit: isExplicit }, isFound) {
      const { from, text } = doc.lineAt(position)
      const isMember = memberPattern.test(text.slice(0, position - from))
      // A list that opens by itself later is in the way, unless a name is expected there.
      asked = !isFound && (isExplicit || isMember) ? { doc, position } : undefined
    },
    askAgain(view) {
      if (!asked || !view.hasFocus) return
      const { doc, selection } = view.state
      if (doc === asked.doc && selection.main.head === asked.position) startCompletion(view)
      else asked = undefined
    },
    extension: Prec.highest(
      EditorView.domEventHandlers({
        keydown({ key }) {
          if (key === "Escape") asked = undefined
          return false
        },
      }),
    ),
  }
}
