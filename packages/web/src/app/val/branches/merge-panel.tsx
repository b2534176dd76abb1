import { useSignal } from "@preact/signals"
import { useEffect, useLayoutEffect, useRef } from "preact/hooks"
import { bindText, setTo } from "../../../ui/bind.ts"
import { Button } from "../../parts/buttons/button.tsx"
import { Field } from "../../parts/forms/field.tsx"
import { mainBranch } from "../files/load-files.ts"
import { DeleteBranchDialog } from "./branch-dialogs.tsx"
import { BranchDifference } from "./branch-difference.tsx"
import type { BranchMerge } from "./branch-merge.ts"
import { ConflictCard } from "./conflict-card.tsx"
import { toBranchQuery } from "./use-branches.ts"

/** Conflicts that are named before the merge. */
const foretoldMax = 5

interface MergePanelProps {
  readonly merge: BranchMerge
  /** The path of the val without a tab. */
  readonly base: string
  /** A branch has a new version. */
  readonly onMerged: () => void
  readonly onDeleted: () => void
  readonly onClose: () => void
}

/** A merge: the changes, a note, the conflicts if there are any, and what it has made. */
export function MergePanel(props: MergePanelProps) {
  const { merge, onMerged, onClose } = props
  const step = merge.step.value
  const send = async () => {
    if (await merge.send()) onMerged()
  }
  const states = merge.states.value
  const isReady =
    step.kind !== "conflicts" || step.paths.every((path) => states.get(path)?.isDecided)
  const { ours, theirs } = merge.names
  return (
    <section class="merge-panel" aria-label={`Merge ${theirs} into ${ours}`}>
      <div class="row wrap version-bar">
        <h2>
          Merge {theirs} into {ours}
        </h2>
        {step.kind === "done" ? null : (
          <Button kind="quiet small" onClick={onClose}>
            Cancel
          </Button>
        )}
      </div>
      {step.kind === "review" ? <Review merge={merge} hasMoved={step.hasMoved} /> : null}
      {step.kind === "conflicts" ? <Conflicts merge={merge} {...step} /> : null}
      {step.kind === "done" ? (
        <Done {...props} {...step} />
      ) : (
        <div class="merge-foot">
          <Field label="Note (optional)" hint="It is shown in the history.">
            <input class="input" maxLength={200} {...bindText(merge.note)} />
          </Field>
          <p class="field-error" role="alert">
            {merge.failure.value}
          </p>
          <Button icon="merge" disabled={!isReady || merge.isBusy.value} onClick={send}>
            {merge.isBusy.value ? "Merging…" : `Merge into ${ours}`}
          </Button>
        </div>
      )}
    </section>
  )
}

/** What will change. The changes of a parent since then are not known before they are merged. */
function Review({ merge, hasMoved }: { merge: BranchMerge; hasMoved: boolean }) {
  const { valId, branch, parent, into } = merge.plan
  const { target, source } = merge.seen.value
  useEffect(() => void merge.foretell(), [merge, target, source])
  return (
    <>
      {hasMoved ? (
        <p class="merge-moved" role="status">
          A branch was saved meanwhile, so nothing was merged. Look at the changes again; your note
          and your decisions are kept.
        </p>
      ) : null}
      <Foretold paths={merge.foretold.value} />
      {into === "parent" ? (
        <>
          <p>
            {parent.name} gets these changes of {branch.name} as one version, together with its own.
          </p>
          <BranchDifference
            key={`${target} ${source}`}
            valId={valId}
            branch={branch}
            loadKey={`${source}`}
            other={undefined}
            empty={`${branch.name} has no changes that ${parent.name} does not have.`}
          />
        </>
      ) : (
        <p>
          {branch.name} gets all that has changed on {parent.name} since the branch was made or last
          merged, as one version, together with its own changes.
        </p>
      )}
    </>
  )
}

/** The conflicts that the merge will have, while nothing is decided. */
function Foretold({ paths }: { readonly paths: readonly string[] }) {
  const named = paths.slice(0, foretoldMax)
  const rest = paths.length - named.length
  if (named.length === 0) return null
  return (
    <p class="merge-moved" role="status">
      Both branches changed the same lines of{" "}
      {named.map((path, index) => (
        <span key={path}>
          {index === 0 ? "" : ", "}
          <code>{path}</code>
        </span>
      ))}
      {rest > 0 ? ` and ${rest} more` : ""}. The next step asks what becomes of{" "}
      {paths.length === 1 ? "it" : "them"}.
    </p>
  )
}

function Conflicts(props: {
  readonly merge: BranchMerge
  readonly paths: readonly string[]
  readonly count: number
}) {
  const { merge, paths, count } = props
  const states = merge.states.value
  const opened = useSignal<string | undefined>(paths[0])
  const list = useRef<HTMLUListElement>(null)
  const isMoving = useRef(false)
  const showNext = () => {
    isMoving.current = true
    const now = merge.states.peek()
    opened.value = paths.find((path) => !now.get(path)?.isDecided)
  }
  // The button that decided about a file is gone: the focus goes to the next one.
  useLayoutEffect(() => {
    if (!isMoving.current) return
    isMoving.current = false
    const panel = list.current?.closest("section")
    panel?.querySelector<HTMLElement>(".file-diff-toggle[aria-expanded=true], .input")?.focus()
  }, [opened.value])
  const left = paths.filter((path) => !states.get(path)?.isDecided)
  const rest = count - paths.length
  return (
    <>
      <p role="status">
        Both branches changed the same lines of {count === 1 ? "a file" : `${count} files`}. Nothing
        is merged yet: decide what becomes of {count === 1 ? "it" : "each"}.{" "}
        {left.length === 0 ? "All are decided." : `${left.length} to decide.`}
        {rest > 0 ? ` ${rest} more are shown after these.` : ""}
      </p>
      <ul class="file-diffs" ref={list}>
        {paths.map((path) => {
          const state = states.get(path)
          const isOpen = opened.value === path
          return state ? (
            <ConflictCard
              key={path}
              merge={merge}
              path={path}
              state={state}
              isOpen={isOpen}
              onToggle={setTo(opened, isOpen ? undefined : path)}
              onDecided={showNext}
            />
          ) : null
        })}
      </ul>
    </>
  )
}

function Done(
  props: MergePanelProps & { readonly version: number; readonly isNewVersion: boolean },
) {
  const { merge, base, version, isNewVersion, onDeleted, onClose } = props
  const { names, plan } = merge
  const { valId, branch, into } = plan
  const isDeleting = useSignal(false)
  const history = `${base}/versions${toBranchQuery(names.ours)}`
  return (
    <>
      <p role="status">
        {isNewVersion ? (
          <>
            {names.ours} has the changes of {names.theirs} as{" "}
            <a href={history}>version {version}</a>.
          </>
        ) : (
          `${names.ours} already has all changes of ${names.theirs}.`
        )}
      </p>
      <div class="row wrap">
        <Button kind="quiet" onClick={onClose}>
          Done
        </Button>
        {into === "parent" && branch.name !== mainBranch ? (
          <Button kind="quiet" icon="trash" onClick={setTo(isDeleting, true)}>
            Delete branch {branch.name}…
          </Button>
        ) : null}
      </div>
      {isDeleting.value ? (
        <DeleteBranchDialog
          valId={valId}
          branch={branch}
          onDeleted={onDeleted}
          onClose={setTo(isDeleting, false)}
        />
      ) : null}
    </>
  )
}
