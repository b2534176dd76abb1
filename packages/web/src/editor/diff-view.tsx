import { MergeView, unifiedMergeView } from "@codemirror/merge"
import { EditorState, type Extension } from "@codemirror/state"
import { EditorView, lineNumbers } from "@codemirror/view"
import { useLayoutEffect, useRef } from "preact/hooks"
import { loadLanguage } from "./code-mirror/languages.ts"
import { themeOf } from "./code-mirror/theme.ts"
import type { DiffViewProps } from "./diff-view-props.ts"
import { toLanguage } from "./to-language.ts"

/** The difference between two texts. Import it with `import()` only, as `lazy.tsx` does. */
export function DiffView({
  before,
  after,
  layout,
  path,
  label,
  isCollapsed = true,
}: DiffViewProps) {
  const host = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (!host.current) return
    const diff = createDiff(host.current, { before, after, layout, path, label, isCollapsed })
    return () => diff.stop()
  }, [before, after, layout, path, label, isCollapsed])
  return <div class="diff-view" ref={host} />
}

const limits = {
  /** Unchanged lines that are shown around a difference, and the least that are folded. */
  marginLines: 3,
  foldedLinesMin: 4,
  /** Very different texts take long to compare exactly; beyond this, the result is coarse. */
  diffMsMax: 500,
  diffScanMax: 2_000,
}

/** Shows a read-only diff. */
function createDiff(parent: HTMLElement, props: DiffViewProps): { stop(): void } {
  const shared = {
    ...(props.isCollapsed === false
      ? {}
      : { collapseUnchanged: { margin: limits.marginLines, minSize: limits.foldedLinesMin } }),
    diffConfig: { scanLimit: limits.diffScanMax, timeout: limits.diffMsMax },
  }
  const { before, after, label } = props
  if (props.layout === "side-by-side") {
    const a = { doc: before, extensions: readOnly(parent, props, `${label}: before`) }
    const b = { doc: after, extensions: readOnly(parent, props, `${label}: after`) }
    const view = new MergeView({ parent, a, b, ...shared })
    return { stop: () => view.destroy() }
  }
  const inline = unifiedMergeView({ original: before, mergeControls: false, ...shared })
  const view = new EditorView({
    parent,
    state: EditorState.create({ doc: after, extensions: [readOnly(parent, props, label), inline] }),
  })
  return { stop: () => view.destroy() }
}

function readOnly(parent: HTMLElement, { path }: DiffViewProps, label: string): Extension {
  const language = loadLanguage(toLanguage(path))
  return [
    themeOf(parent.ownerDocument),
    diffTheme,
    lineNumbers(),
    EditorState.readOnly.of(true),
    EditorState.tabSize.of(2),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ "aria-label": label, "aria-readonly": "true" }),
    // Markdown is loaded too late for the folded parts: it is not highlighted.
    language instanceof Promise ? [] : language,
  ]
}

/** Changed lines have a background, and the changed words in them a darker one. */
const diffTheme = EditorView.theme({
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
