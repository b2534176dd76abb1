import { EditorView } from "@codemirror/view"

/** Changed lines have a background, and the changed words in them a darker one. */
export const diffTheme = EditorView.theme({
  "&": { height: "auto" },
  "&.cm-merge-a .cm-changedLine, .cm-deletedChunk, .cm-inlineChangedLine.cm-deletedLine": {
    backgroundColor: "var(--removed-line)",
  },
  "&.cm-merge-b .cm-changedLine, .cm-inlineChangedLine": { backgroundColor: "var(--added-line)" },
  "&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText": {
    background: "var(--removed-word)",
    textDecoration: "none",
    borderRadius: "2px",
  },
  "&.cm-merge-b .cm-changedText, .cm-changedText": {
    background: "var(--added-word)",
    borderRadius: "2px",
  },
  // The background of a line that is new as a whole says enough.
  "& :is(.cm-line, .cm-deletedLine, ins, del) > :is(.cm-changedText, .cm-deletedText):only-child": {
    background: "none",
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
