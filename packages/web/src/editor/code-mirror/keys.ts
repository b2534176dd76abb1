import { acceptCompletion, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete"
import { defaultKeymap, historyKeymap, indentWithTab } from "@codemirror/commands"
import { foldKeymap } from "@codemirror/language"
import { lintKeymap } from "@codemirror/lint"
import { searchKeymap } from "@codemirror/search"
import { type Extension, Prec } from "@codemirror/state"
import { keymap } from "@codemirror/view"

/** They say whether the key is taken care of. */
export interface KeyListeners {
  readonly onSave: () => boolean
  readonly onRun: () => boolean
  readonly onFormat: () => boolean
}

/**
 * What keys do. Tab indents, which would be a trap for whoever has no mouse: after Escape the next
 * Tab leaves, and Control-M switches indenting off, both by CodeMirror itself.
 */
export function keys({ onSave, onRun, onFormat }: KeyListeners): Extension {
  const own = keymap.of([
    { key: "Mod-s", run: onSave },
    { key: "Mod-Enter", run: onRun },
    { key: "Shift-Alt-f", run: onFormat },
    { key: "Tab", run: acceptCompletion },
  ])
  const usual = [
    closeBracketsKeymap,
    defaultKeymap,
    searchKeymap,
    historyKeymap,
    foldKeymap,
    completionKeymap,
    lintKeymap,
    [indentWithTab],
  ]
  return [Prec.high(own), keymap.of(usual.flat())]
}
