import { MergeView, unifiedMergeView } from "@codemirror/merge"
import { EditorState, type Extension } from "@codemirror/state"
import { EditorView, lineNumbers } from "@codemirror/view"
import type { DiffViewProps } from "../diff-view-props.ts"
import { diffTheme } from "./diff-theme.ts"
import { loadLanguage, toLanguage } from "./languages.ts"
import { themeOf } from "./theme.ts"

const limits = {
  /** Unchanged lines that are shown around a difference, and the least that are folded. */
  marginLines: 3,
  foldedLinesMin: 4,
  /** Very different texts take long to compare exactly; beyond this, the result is coarse. */
  diffMsMax: 500,
  diffScanMax: 2_000,
}

/** Shows a read-only diff. */
export function createDiff(parent: HTMLElement, props: DiffViewProps): { stop(): void } {
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
