import { EditorView } from "@codemirror/view"

/** Added text is underlined and deleted text struck through, not only coloured. */
export const diffTheme = EditorView.theme({
  "&": { height: "auto" },
  "&.cm-merge-a .cm-changedLine, .cm-deletedChunk, .cm-inlineChangedLine.cm-deletedLine": {
    backgroundColor: "var(--danger-ground)",
  },
  "&.cm-merge-b .cm-changedLine, .cm-inlineChangedLine": { backgroundColor: "var(--ok-ground)" },
  "&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText": {
    background: "none",
    textDecoration: "line-through var(--danger)",
  },
  "&.cm-merge-b .cm-changedText, .cm-changedText": {
    background: "none",
    textDecoration: "underline 2px var(--ok)",
  },
  "&.cm-merge-a .cm-changedLineGutter, .cm-deletedLineGutter": { backgroundColor: "var(--danger)" },
  "&.cm-merge-b .cm-changedLineGutter, .cm-changedLineGutter": { backgroundColor: "var(--ok)" },
  ".cm-deletedChunk": { padding: "0 12px 0 6px" },
  // Few fonts contain CodeMirror's sign.
  ".cm-collapsedLines:before, .cm-collapsedLines:after": { content: '"⋯"' },
  ".cm-collapsedLines": {
    color: "var(--text-soft)",
    background: "var(--sunken)",
    padding: "4px 12px",
    fontFamily: "var(--sans)",
  },
})
