import { type CompletionResult, startCompletion } from "@codemirror/autocomplete"
import { type EditorState, type Extension, StateEffect, StateField } from "@codemirror/state"
import { type EditorView, keymap } from "@codemirror/view"
import type { Fix } from "../../type-service/protocol.ts"
import { ask, type LanguageContext, notReady } from "./language-context.ts"

const setFixes = StateEffect.define<readonly Fix[]>()

/** The fixes that the list shows. Any change closes it. */
const fixesField = StateField.define<readonly Fix[]>({
  create: () => [],
  update(fixes, transaction) {
    for (const effect of transaction.effects) if (effect.is(setFixes)) return effect.value
    return transaction.docChanged || transaction.selection ? [] : fixes
  },
})

/** Control-. lists the fixes of the problems at the cursor, in the list of the completions. */
export function quickFixes(context: LanguageContext): Extension {
  async function show(view: EditorView): Promise<void> {
    const { from, to } = view.state.selection.main
    const fixes = await ask(context, view, "fixes", { from, to })
    if (!fixes) return context.onProblem(notReady)
    if (fixes.length === 0) return context.onProblem("There is no quick fix at the cursor")
    view.dispatch({ effects: setFixes.of(fixes) })
    startCompletion(view)
  }

  return [
    fixesField,
    keymap.of([
      {
        key: "Mod-.",
        run(view) {
          if (view.state.readOnly) return false
          void show(view)
          return true
        },
      },
    ]),
  ]
}

/** The fixes as completions; undefined unless they were asked for. */
export function findFixCompletions(state: EditorState): CompletionResult | undefined {
  const fixes = state.field(fixesField, false) ?? []
  if (fixes.length === 0) return undefined
  return {
    from: state.selection.main.head,
    filter: false,
    options: fixes.map(({ title, edits }) => ({
      label: title,
      type: "text",
      apply: (view) =>
        view.dispatch({
          changes: edits.map(({ from, to, text }) => ({ from, to, insert: text })),
          userEvent: "input.complete",
        }),
    })),
  }
}
