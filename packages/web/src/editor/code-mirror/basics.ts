import { closeBrackets } from "@codemirror/autocomplete"
import { history } from "@codemirror/commands"
import {
  bracketMatching,
  foldGutter,
  getIndentation,
  indentOnInput,
  indentService,
  indentUnit,
} from "@codemirror/language"
import { lintGutter } from "@codemirror/lint"
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
      : [foldGutter(), indentOnInput(), indentNewLine, highlightSelectionMatches()],
    // From the start: the types, which are loaded later, would move the code to the right.
    language === "typescript" ? lintGutter() : [],
  ]
}

/**
 * The indentation of a new line. CodeMirror asks the parser about the line before it is broken, where
 * `import a from "b"|export default 1` is one statement that goes on: it is asked about the lines
 * after the break. Between brackets there are two breaks, and nothing follows the first.
 */
const indentNewLine = indentService.of((context, position) => {
  const { state, simulatedBreak } = context
  if (simulatedBreak === null) return undefined
  const isBetween =
    context.textAfterPos(position) === "" && position < state.doc.lineAt(position).to
  const insert = state.lineBreak.repeat(isBetween ? 2 : 1)
  const broken = state.update({ changes: { from: simulatedBreak, insert } }).state
  return getIndentation(broken, simulatedBreak + 1)
})
