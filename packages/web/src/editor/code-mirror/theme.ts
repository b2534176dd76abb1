import { HighlightStyle, syntaxHighlighting } from "@codemirror/language"
import type { Extension } from "@codemirror/state"
import { EditorView } from "@codemirror/view"
import { tags } from "@lezer/highlight"
import { partsTheme } from "./theme-parts.ts"

/**
 * The style of the editor. CodeMirror has a light and a dark theme and must know which; these
 * styles replace both with custom properties of the page, which the browser resolves.
 */
const textTheme = EditorView.theme({
  "&": {
    color: "var(--text)",
    backgroundColor: "var(--page)",
    fontSize: "var(--size-sm)",
    height: "100%",
  },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6", scrollbarWidth: "thin" },
  ".cm-content": { caretColor: "var(--text)", padding: "8px 0" },
  // Right-to-left text must not reorder the text beside it.
  ".cm-line": { padding: "0 12px 0 6px", unicodeBidi: "isolate" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--text)", borderLeftWidth: "2px" },
  ".cm-fat-cursor": { backgroundColor: "var(--accent)" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground":
    {
      backgroundColor: "var(--accent-ground)",
    },
  // A background would hide the selection, which is drawn behind the lines.
  ".cm-activeLine": {
    backgroundColor: "transparent",
    boxShadow: "inset 0 1px var(--line), inset 0 -1px var(--line)",
  },
  ".cm-gutters": {
    color: "var(--text-faint)",
    backgroundColor: "var(--page)",
    border: "0",
    borderRight: "1px solid var(--line)",
  },
  ".cm-gutters.cm-gutters-before": { borderRightWidth: "1px" },
  ".cm-activeLineGutter": { color: "var(--text)", backgroundColor: "var(--sunken)" },
  ".cm-lineNumbers .cm-gutterElement": { padding: "0 6px 0 10px", minWidth: "34px" },
  // The width of its glyph would depend on the font, and plain.css has the same.
  ".cm-foldGutter .cm-gutterElement": {
    width: "16px",
    padding: "0",
    textAlign: "center",
    cursor: "pointer",
  },
  ".cm-foldPlaceholder": {
    color: "var(--text-soft)",
    backgroundColor: "var(--sunken)",
    border: "1px solid var(--line)",
    padding: "0 5px",
    margin: "0 2px",
  },
  ".cm-specialChar": { color: "var(--danger)" },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": {
    color: "var(--text)",
    backgroundColor: "transparent",
    outline: "1px solid var(--accent)",
  },
  ".cm-nonmatchingBracket, &.cm-focused .cm-nonmatchingBracket": {
    color: "var(--danger)",
    backgroundColor: "transparent",
  },
  // Lines instead of backgrounds: a visible background reduces the contrast of the text.
  ".cm-selectionMatch": { backgroundColor: "transparent", outline: "1px solid var(--line-strong)" },
  ".cm-searchMatch": { backgroundColor: "transparent", outline: "1px solid var(--warn)" },
  ".cm-searchMatch.cm-searchMatch-selected": {
    backgroundColor: "var(--accent-ground)",
    outline: "2px solid var(--accent)",
  },
})

const highlightStyle = HighlightStyle.define([
  {
    tag: [
      tags.keyword,
      tags.modifier,
      tags.operatorKeyword,
      tags.controlKeyword,
      tags.self,
      tags.tagName,
    ],
    color: "var(--code-word)",
  },
  {
    tag: [tags.string, tags.special(tags.string), tags.regexp, tags.character, tags.monospace],
    color: "var(--code-string)",
  },
  { tag: [tags.number, tags.bool, tags.null, tags.atom, tags.escape], color: "var(--code-number)" },
  { tag: [tags.comment, tags.meta, tags.quote], color: "var(--code-comment)" },
  {
    tag: [
      tags.typeName,
      tags.className,
      tags.namespace,
      tags.function(tags.variableName),
      tags.function(tags.propertyName),
    ],
    color: "var(--code-key)",
  },
  {
    tag: [tags.attributeName, tags.labelName, tags.definition(tags.propertyName)],
    color: "var(--code-key)",
  },
  { tag: [tags.punctuation, tags.operator, tags.angleBracket], color: "var(--text-soft)" },
  { tag: tags.heading, color: "var(--text)", fontWeight: "700" },
  { tag: tags.strong, fontWeight: "700" },
  { tag: tags.emphasis, fontStyle: "italic" },
  { tag: tags.strikethrough, textDecoration: "line-through" },
  { tag: [tags.link, tags.url], color: "var(--accent)", textDecoration: "underline" },
  { tag: tags.invalid, color: "var(--danger)" },
])

/** All styles, with the nonce that the CSP of the page requires. */
export function themeOf(page: Document): Extension {
  const nonce = page.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content
  return [
    nonce ? EditorView.cspNonce.of(nonce) : [],
    textTheme,
    partsTheme,
    syntaxHighlighting(highlightStyle),
  ]
}
