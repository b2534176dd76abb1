import { useSignal } from "@preact/signals"
import { useEffect, useMemo } from "preact/hooks"
import { setTo } from "../../../ui/bind.ts"
import { Bars, EmptyState } from "../../../ui/page-states.tsx"
import { Loaded } from "../../data/loaded.tsx"
import {
  currentLocation,
  guardNavigation,
  navigate,
  setQuery,
  toHrefWith,
} from "../../frame/location.ts"
import { showError } from "../../frame/toast-list.ts"
import { Button } from "../../parts/buttons/button.tsx"
import { LinkButton } from "../../parts/buttons/link-button.tsx"
import { Select } from "../../parts/forms/field.tsx"
import { QuerySelect } from "../../parts/forms/query-choice.tsx"
import { TimeAgo } from "../../parts/time-ago.tsx"
import { diffLayouts } from "../comparison/file-diffs.tsx"
import { mainBranch } from "../files/load-files.ts"
import type { ValTabProps } from "../val-tab-props.ts"
import { DeleteBranchDialog, NewBranchDialog } from "./branch-dialogs.tsx"
import { BranchDifference } from "./branch-difference.tsx"
import { type BranchMerge, createBranchMerge, type MergePlan } from "./branch-merge.ts"
import { MergePanel } from "./merge-panel.tsx"
import { NoBranch } from "./no-branch.tsx"
import { type ListedBranch, readBranchName, toBranchQuery, useBranches } from "./use-branches.ts"

/** The branches of a val: what differs between them, and merging. */
export function BranchesTab({ editing, isOwn, base }: ValTabProps) {
  const { id } = editing.val.value
  const branches = useBranches(id)
  // What was decided about one merge stays while the user looks at another branch.
  const merges = useMemo(() => new Map<string, BranchMerge>(), [id])
  useEffect(
    () => guardNavigation(() => [...merges.values()].every((merge) => !merge.mayLose())),
    [merges],
  )
  const changed = async () => {
    branches.reload()
    // The number of branches, and the version of the one on the page.
    await editing.refresh().catch(showError)
  }
  return (
    <Loaded of={branches} skeleton={<Bars count={6} kind="row" />}>
      {(all) => (
        <BranchesView
          valId={id}
          all={all}
          isOwn={isOwn}
          base={base}
          merges={merges}
          onChange={changed}
        />
      )}
    </Loaded>
  )
}

interface BranchesViewProps {
  readonly valId: string
  readonly all: readonly ListedBranch[]
  readonly isOwn: boolean
  readonly base: string
  /** The merges that have begun. */
  readonly merges: Map<string, BranchMerge>
  readonly onChange: () => Promise<void>
}

function BranchesView(props: BranchesViewProps) {
  const { valId, all, isOwn, onChange } = props
  const isMaking = useSignal(false)
  const { query } = currentLocation.value
  const name = query.get("show") ?? readBranchName()
  // The page without a name shows the branch that was changed last.
  const newest = all
    .slice(1)
    .reduce<ListedBranch | undefined>(
      (last, one) => (last && last.updatedAt >= one.updatedAt ? last : one),
      undefined,
    )
  const isNamed = query.has("show") || query.has("branch")
  const shown = isNamed ? all.find((branch) => branch.name === name) : (newest ?? all[0])
  const source = shown ?? all[0]
  const created = (made: string) => {
    navigate(toHrefWith({ show: made, with: undefined }))
    void onChange()
  }
  return (
    <>
      {all.length === 1 ? (
        <EmptyState icon="branch" title={`There is only ${mainBranch}`}>
          <p>
            A branch is a copy of the files. It has addresses of its own, and what is saved there
            does not change what runs on {mainBranch} until it is merged.
          </p>
          {isOwn ? (
            <Button icon="plus" onClick={setTo(isMaking, true)}>
              New branch
            </Button>
          ) : null}
        </EmptyState>
      ) : (
        <div class="versions">
          <section aria-label="Branches">
            <ul class="version-list">
              {all.map((branch) => (
                <BranchRow key={branch.id} {...props} branch={branch} isShown={branch === shown} />
              ))}
            </ul>
            {isOwn ? (
              <p class="more">
                <Button kind="quiet" icon="plus" onClick={setTo(isMaking, true)}>
                  New branch
                </Button>
              </p>
            ) : null}
          </section>
          {shown ? (
            <Comparison key={shown.id} {...props} branch={shown} />
          ) : (
            <NoBranch name={name} />
          )}
        </div>
      )}
      {isMaking.value && source ? (
        <NewBranchDialog
          valId={valId}
          source={source}
          onCreated={created}
          onClose={setTo(isMaking, false)}
        />
      ) : null}
    </>
  )
}

function BranchRow(
  props: BranchesViewProps & { readonly branch: ListedBranch; readonly isShown: boolean },
) {
  const { valId, all, branch, isShown, isOwn, base, onChange } = props
  const isDeleting = useSignal(false)
  const parent = all.find(({ id }) => id === branch.forkedBranchId)
  const deleted = () => {
    forgetBranch(branch.name, isShown)
    void onChange()
  }
  return (
    <li class={`row wrap version-row ${isShown ? "version-shown" : ""}`}>
      <a
        class="table-name ellipsis branch-name"
        href={toHrefWith({ show: branch.name, with: undefined })}
        {...(isShown ? { "aria-current": "true" as const } : {})}
      >
        {branch.name}
      </a>
      <span class="quiet push">
        v{branch.version} · <TimeAgo at={branch.updatedAt} />
      </span>
      <span class="wrap version-actions">
        {parent ? <span class="quiet">from {parent.name}</span> : null}
        <a class="link-button" href={`${base}${toBranchQuery(branch.name)}`}>
          Code<span class="visually-hidden"> of {branch.name}</span>
        </a>
        <a class="link-button" href={`${base}/versions${toBranchQuery(branch.name)}`}>
          History<span class="visually-hidden"> of {branch.name}</span>
        </a>
        {isOwn && branch.name !== mainBranch ? (
          <LinkButton isDanger label={`Delete ${branch.name}`} onClick={setTo(isDeleting, true)}>
            Delete
          </LinkButton>
        ) : null}
      </span>
      {isDeleting.value ? (
        <DeleteBranchDialog
          valId={valId}
          branch={branch}
          onDeleted={deleted}
          onClose={setTo(isDeleting, false)}
        />
      ) : null}
    </li>
  )
}

/** A deleted branch is no longer in the address. */
function forgetBranch(name: string, isShown: boolean): void {
  setQuery({
    ...(isShown ? { show: undefined, with: undefined } : {}),
    ...(readBranchName() === name ? { branch: undefined } : {}),
  })
}

/** What differs between a branch and another, and a merge with its parent. */
function Comparison(props: BranchesViewProps & { readonly branch: ListedBranch }) {
  const { valId, all, branch, isOwn, base, merges, onChange } = props
  const merging = useSignal<BranchMerge | undefined>(undefined)
  const parent = all.find(({ id }) => id === branch.forkedBranchId)
  const others = all.filter(({ id }) => id !== branch.id)
  const wanted = currentLocation.value.query.get("with")
  const other = others.find(({ name }) => name === wanted) ?? (parent ? undefined : others[0])
  const deleted = () => {
    forgetBranch(branch.name, true)
    void onChange()
  }
  const merge = (into: MergePlan["into"]) => () => {
    if (!parent) return
    const key = `${branch.id} ${into}`
    const known = merges.get(key)
    merging.value = known?.mayLose() ? known : createBranchMerge({ valId, branch, parent, into })
    merges.set(key, merging.value)
  }
  if (merging.value)
    return (
      <MergePanel
        merge={merging.value}
        base={base}
        onMerged={() => void onChange()}
        onDeleted={deleted}
        onClose={setTo(merging, undefined)}
      />
    )
  const since = parent ? [{ value: "", label: `what it began with (${parent.name})` }] : []
  return (
    <section class="version-diff" aria-label="Changes">
      <div class="row wrap version-bar">
        <h2>
          Changes on <span class="ellipsis branch-name">{branch.name}</span>
        </h2>
        <span class="version-choice">
          <span class="quiet">compared with</span>
          <Select
            label="Compared with"
            isLabelHidden
            value={other?.name ?? ""}
            choices={[...since, ...others.map(({ name }) => ({ value: name, label: name }))]}
            onChange={(chosen) => setQuery({ with: chosen })}
          />
        </span>
        <QuerySelect name="layout" label="Layout" choices={diffLayouts} />
      </div>
      {isOwn && parent ? (
        <p class="row wrap branch-merges">
          <Button icon="merge" onClick={merge("parent")}>
            Merge into {parent.name}…
          </Button>
          <Button kind="quiet" onClick={merge("branch")}>
            Take changes from {parent.name}…
          </Button>
        </p>
      ) : null}
      <BranchDifference
        valId={valId}
        branch={branch}
        other={other}
        loadKey={`${branch.version} ${other?.version ?? ""}`}
        empty={
          other
            ? `The files of ${branch.name} and ${other.name} are the same.`
            : `Nothing has changed on ${branch.name} since it was made or last merged.`
        }
      />
    </section>
  )
}
