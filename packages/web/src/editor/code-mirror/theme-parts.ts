import { EditorView } from "@codemirror/view"

const markOf = (color: string) => ({
  // CodeMirror's icons are images in the style sheet, which a strict CSP blocks.
  backgroundImage: "none",
  textDecoration: `underline wavy ${color} 1px`,
  textUnderlineOffset: "3px",
  paddingBottom: "0",
})

const button = {
  backgroundImage: "none",
  backgroundColor: "var(--raised)",
  color: "var(--text)",
  border: "1px solid var(--line-strong)",
  borderRadius: "var(--radius-small)",
  fontFamily: "var(--sans)",
  fontSize: "var(--size-xs)",
  padding: "3px 9px",
  textTransform: "none",
} as const

/** The style of panels, tooltips, lists, error marks and differences. */
export const partsTheme = EditorView.theme({
  ".cm-panels": {
    color: "var(--text)",
    backgroundColor: "var(--raised)",
    fontFamily: "var(--sans)",
    zIndex: "3",
  },
  ".cm-panels.cm-panels-top": { borderBottom: "1px solid var(--line)" },
  ".cm-panels.cm-panels-bottom": { borderTop: "1px solid var(--line)" },
  ".cm-panel.cm-search": { padding: "7px 34px 7px 10px" },
  ".cm-panel.cm-search label": { color: "var(--text-soft)", fontSize: "var(--size-xs)" },
  ".cm-panel.cm-search [name=close], .cm-panel.cm-panel-lint [name=close]": {
    color: "var(--text)",
    top: "6px",
    right: "8px",
    width: "24px",
    height: "24px",
    fontSize: "var(--size-lg)",
    cursor: "pointer",
  },
  ".cm-button": button,
  ".cm-button:hover, .cm-button:active": {
    backgroundImage: "none",
    backgroundColor: "var(--sunken)",
  },
  ".cm-panel button:focus-visible, .cm-panel input:focus-visible": {
    outline: "2px solid var(--accent)",
    outlineOffset: "1px",
  },
  ".cm-textfield": {
    backgroundColor: "var(--page)",
    color: "var(--text)",
    border: "1px solid var(--line-strong)",
    borderRadius: "var(--radius-small)",
    fontFamily: "var(--mono)",
    fontSize: "var(--size-xs)",
    padding: "3px 7px",
  },
  ".cm-textfield::placeholder": { color: "var(--text-faint)", opacity: "1" },
  ".cm-tooltip": {
    color: "var(--text)",
    backgroundColor: "var(--raised)",
    border: "1px solid var(--line-strong)",
    borderRadius: "var(--radius-small)",
    fontSize: "var(--size-xs)",
    overflow: "hidden",
  },
  ".cm-tooltip-section:not(:first-child)": { borderTop: "1px solid var(--line)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxHeight: "15em" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "2px 8px", lineHeight: "1.5" },
  ".cm-tooltip-autocomplete ul li[aria-selected], .cm-tooltip-autocomplete-disabled ul li[aria-selected]":
    {
      color: "var(--on-accent)",
      backgroundColor: "var(--accent)",
    },
  ".cm-completionIcon": { color: "inherit", opacity: "1", paddingRight: "1.1em" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "700" },
  ".cm-tooltip.cm-completionInfo": { padding: "6px 10px", maxWidth: "min(420px, 90vw)" },
  ".cm-types": {
    padding: "6px 10px",
    maxWidth: "min(600px, 90vw)",
    maxHeight: "280px",
    overflow: "auto",
  },
  ".cm-types pre": {
    margin: "0",
    fontFamily: "var(--mono)",
    whiteSpace: "pre-wrap",
    overflowWrap: "anywhere",
  },
  ".cm-signature strong": { fontWeight: "bold", color: "var(--accent)" },
  ".cm-types p": {
    margin: "6px 0 0",
    fontFamily: "var(--sans)",
    color: "var(--text-soft)",
    whiteSpace: "pre-wrap",
  },
  ".cm-types-word": { color: "var(--code-word)" },
  ".cm-types-type": { color: "var(--code-key)" },
  ".cm-types-string": { color: "var(--code-string)" },
  ".cm-types-number": { color: "var(--code-number)" },
  ".cm-lintRange-error": markOf("var(--danger)"),
  ".cm-lintRange-warning": markOf("var(--warn)"),
  ".cm-lintRange-active": { backgroundColor: "var(--danger-ground)" },
  ".cm-lintPoint:after": { borderBottomColor: "var(--danger)" },
  ".cm-diagnostic": {
    fontFamily: "var(--sans)",
    padding: "6px 10px",
    whiteSpace: "pre-wrap",
    maxWidth: "min(600px, 90vw)",
  },
  ".cm-diagnostic-error": { borderLeft: "4px solid var(--danger)" },
  ".cm-diagnostic-warning": { borderLeft: "4px solid var(--warn)" },
  ".cm-panel.cm-panel-lint ul [aria-selected]": {
    backgroundColor: "var(--sunken)",
    color: "var(--text)",
  },
  ".cm-panel.cm-panel-lint ul:focus [aria-selected]": {
    backgroundColor: "var(--accent-ground)",
    color: "var(--text)",
  },
  ".cm-gutter-lint": { width: "14px" },
  ".cm-gutter-lint .cm-gutterElement": { padding: "0" },
  ".cm-lint-marker": { width: "14px", height: "auto" },
  ".cm-lint-marker-error, .cm-lint-marker-warning": { content: "normal", textAlign: "center" },
  ".cm-lint-marker-error:before": { content: '"●"', color: "var(--danger)" },
  ".cm-lint-marker-warning:before": { content: '"▲"', color: "var(--warn)" },
})
