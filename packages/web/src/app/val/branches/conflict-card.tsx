import { useSignal } from "@preact/signals"
import { useRef } from "preact/hooks"
import type { CodeEditorHandle } from "../../../editor/code-editor-props.ts"
import { LazyCodeEditor, LazyDiffView } from "../../../editor/lazy.tsx"
import { toLanguage } from "../../../editor/to-language.ts"
import { setTo } from "../../../ui/bind.ts"
import { Icon } from "../../../ui/icon.tsx"
import { Button } from "../../parts/buttons/button.tsx"
import { LinkButton } from "../../parts/buttons/link-button.tsx"
import { Segments } from "../../parts/forms/segments.tsx"
import type { BranchMerge } from "./branch-merge.ts"
import { type ConflictChoice, resolveConflict } from "./conflict-marks.ts"
import { type ConflictState, listOpen, type MergeNames } from "./merge-state.ts"

type View = "result" | "ours" | "theirs" | "both"

interface ConflictCardProps {
  readonly merge: BranchMerge
  readonly path: string
  readonly state: ConflictState
  readonly isOpen: boolean
  readonly onToggle: () => void
  /** The next file can be shown. */
  readonly onDecided: () => void
}

/** A file that both branches have changed: what each did, and an editor for what becomes of it. */
export function ConflictCard(props: ConflictCardProps) {
  const { merge, path, state, isOpen, onToggle } = props
  const openCount = listOpen(state, merge.names).length
  return (
    <li class="boxed file-diff conflict-card">
      <div class="row wrap file-diff-head">
        <button
          type="button"
          class="row small file-diff-toggle"
          aria-expanded={isOpen}
          onClick={onToggle}
        >
          <Icon name="chevron" />
          <span class="mono breaks">{path}</span>
          <span class={`badge status status-${state.isDecided ? "succeeded" : "timed_out"}`}>
            {describeState(state, openCount)}
          </span>
        </button>
      </div>
      {isOpen ? <ConflictBody {...props} openCount={openCount} /> : null}
    </li>
  )
}

function describeState({ isDecided, text, conflict }: ConflictState, openCount: number): string {
  if (isDecided) return text === null ? "Will be deleted" : "Decided"
  if (conflict.ours === null || conflict.theirs === null) return "Deleted on one side"
  return openCount === 1 ? "1 conflict" : `${openCount} conflicts`
}

function ConflictBody(props: ConflictCardProps & { readonly openCount: number }) {
  const { merge, path, state, openCount, onDecided } = props
  const { conflict, text } = state
  const { names } = merge
  const view = useSignal<View>("result")
  const handle = useRef<CodeEditorHandle | null>(null)
  /** The only text of a file that one side has deleted. */
  const kept = conflict.ours ?? conflict.theirs
  const write = (next: string) => {
    handle.current?.setText(next)
    merge.decide(path, { text: next, isDecided: false })
  }
  const decide = (decided: string | null) => {
    merge.decide(path, { text: decided, isDecided: true })
    onDecided()
  }
  const take = (side: "ours" | "theirs") => decide(conflict[side])
  return (
    <div class="conflict-body">
      {state.hasMoved ? (
        <p role="status">
          A branch was saved meanwhile. Your text is still here; look at it again.
        </p>
      ) : null}
      <div class="row wrap conflict-bar">
        <Segments
          label={`Texts of ${path}`}
          value={view.value}
          choices={toViews(names)}
          onChange={(chosen) => setTo(view, chosen)()}
        />
        <span class="row wrap conflict-takes">
          <TakeButton side="ours" names={names} state={state} take={take} />
          <TakeButton side="theirs" names={names} state={state} take={take} />
        </span>
      </div>
      {view.value === "result" ? null : (
        <ConflictDiff view={view.value} state={state} names={names} />
      )}
      <div hidden={view.value !== "result"}>
        {text === null ? (
          <p class="quiet">
            The file will be deleted.{" "}
            <LinkButton onClick={() => merge.decide(path, { text: kept, isDecided: false })}>
              Keep it instead
            </LinkButton>
          </p>
        ) : (
          <>
            <OpenConflicts merge={merge} state={state} handle={handle} write={write} />
            <div class="boxed conflict-editor">
              <LazyCodeEditor
                value={text}
                language={toLanguage(path)}
                path={`merge/${path}`}
                label={`Result of ${path}`}
                handle={handle}
                onChange={(typed) => merge.decide(path, { text: typed, isDecided: false })}
              />
            </div>
          </>
        )}
      </div>
      <div class="row wrap conflict-foot">
        {state.isDecided ? (
          <span class="quiet">Decided. A change of the text opens it again.</span>
        ) : (
          <Button
            kind="quiet"
            disabled={openCount > 0 || text === null}
            onClick={() => decide(text)}
          >
            Use this text
          </Button>
        )}
      </div>
    </div>
  )
}

function toViews({ ours, theirs }: MergeNames) {
  return [
    { value: "result", label: "Result" },
    { value: "ours", label: `Changes on ${ours}` },
    { value: "theirs", label: `Changes on ${theirs}` },
    { value: "both", label: "Both" },
  ] as const
}

function TakeButton(props: {
  readonly side: "ours" | "theirs"
  readonly names: MergeNames
  readonly state: ConflictState
  readonly take: (side: "ours" | "theirs") => void
}) {
  const { side, names, state, take } = props
  const isGone = state.conflict[side] === null
  return (
    <Button kind="quiet small" onClick={() => take(side)}>
      {isGone ? `Delete it, as ${names[side]}` : `Take all of ${names[side]}`}
    </Button>
  )
}

/** The conflicts that are left in the text, one at a time, with a choice. */
function OpenConflicts(props: {
  readonly merge: BranchMerge
  readonly state: ConflictState
  readonly handle: { readonly current: CodeEditorHandle | null }
  readonly write: (text: string) => void
}) {
  const { merge, state, handle, write } = props
  const { names } = merge
  const open = listOpen(state, names)
  const first = open[0]
  if (!first || state.text === null) return null
  const line = first.start + 1
  const choose = (choice: ConflictChoice) => () => {
    const next = resolveConflict(state.text ?? "", first, choice)
    write(next)
    handle.current?.goToLine(Math.max(1, first.start))
  }
  return (
    <p class="row wrap conflict-next">
      <LinkButton onClick={() => handle.current?.goToLine(line)}>
        {open.length === 1 ? "One conflict" : `First of ${open.length} conflicts`}, line {line}
      </LinkButton>
      <span class="row wrap conflict-takes">
        <LinkButton onClick={choose("ours")}>Take {names.ours}</LinkButton>
        <LinkButton onClick={choose("theirs")}>Take {names.theirs}</LinkButton>
        <LinkButton onClick={choose("both")}>Take both</LinkButton>
      </span>
    </p>
  )
}

function ConflictDiff(props: {
  readonly view: Exclude<View, "result">
  readonly state: ConflictState
  readonly names: MergeNames
}) {
  const { view, state, names } = props
  const { path, base, ours, theirs } = state.conflict
  const [before, after, label] =
    view === "both"
      ? [ours, theirs, `${path}: ${names.ours} and ${names.theirs}`]
      : [base, view === "ours" ? ours : theirs, `${path}: changes on ${names[view]}`]
  const gone = view === "both" ? undefined : names[view]
  if (gone !== undefined && after === null)
    return <p class="quiet file-diff-note">{gone} has deleted the file.</p>
  return (
    <div class="boxed diff-host conflict-diff">
      <LazyDiffView
        before={before ?? ""}
        after={after ?? ""}
        layout={view === "both" ? "side-by-side" : "inline"}
        path={path}
        label={label}
      />
    </div>
  )
}
