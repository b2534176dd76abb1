import { closeBrackets } from "@codemirror/autocomplete"
import { history } from "@codemirror/commands"
import { bracketMatching, foldGutter, indentOnInput, indentUnit } from "@codemirror/language"
import { highlightSelectionMatches, search } from "@codemirror/search"
import { EditorState, type Extension } from "@codemirror/state"
import {
  crosshairCursor,
  drawSelection,
  dropCursor,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  lineNumbers,
  rectangularSelection,
} from "@codemirror/view"
import type { EditorLanguage } from "../code-editor-props.ts"

const blinkMs = 1200

function isMotionReduced(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches
}

/** The features for all languages. Prose wraps, code does not. */
export function basics(language: EditorLanguage): Extension {
  const isProse = language === "markdown" || language === "text"
  return [
    lineNumbers(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    highlightSpecialChars(),
    history(),
    drawSelection({ cursorBlinkRate: isMotionReduced() ? 0 : blinkMs }),
    dropCursor(),
    EditorState.allowMultipleSelections.of(true),
    EditorState.tabSize.of(2),
    indentUnit.of("  "),
    rectangularSelection(),
    crosshairCursor(),
    bracketMatching(),
    closeBrackets(),
    search({ top: true }),
    isProse
      ? EditorView.lineWrapping
      : [foldGutter(), indentOnInput(), highlightSelectionMatches()],
  ]
}
