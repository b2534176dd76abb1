import { acceptCompletion, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete"
import { defaultKeymap, historyKeymap, indentWithTab } from "@codemirror/commands"
import { foldKeymap } from "@codemirror/language"
import { lintKeymap } from "@codemirror/lint"
import { searchKeymap } from "@codemirror/search"
import { type Extension, Prec } from "@codemirror/state"
import { keymap } from "@codemirror/view"

/** They return whether the key was handled. */
export interface KeyListeners {
  readonly onSave: () => boolean
  readonly onRun: () => boolean
  readonly onFormat: () => boolean
}

/**
 * The key bindings. Tab indents, which would trap keyboard users: after Escape, Tab leaves the
 * editor, and Control-M turns indenting off, both built into CodeMirror.
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
