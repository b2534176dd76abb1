import type { ComponentChildren } from "preact"
import { LoadedPages } from "../../data/loaded.tsx"
import { usePages } from "../../data/pages.ts"
import { currentLocation, setQuery, toHrefWith } from "../../frame/location.ts"
import type { ValTabProps } from "../val-tab-props.ts"
import { groupVersions, type VersionChange } from "./group-versions.ts"
import type { ShownBranch } from "./shown-branch.ts"
import { readNumber, VersionChanges } from "./version-changes.tsx"
import { PushRow, type VersionListProps, VersionRow } from "./version-row.tsx"

/** The history of a branch: what each version has changed, and a way to restore it. */
export function VersionsTab({ editing, isOwn }: ValTabProps) {
  const { id } = editing.val.value
  const { value } = editing.branch
  const branch = { ...value, valId: id, isMain: value.id === id }
  const refresh = () => editing.refresh()
  return <History branch={branch} isOwn={isOwn} onRestored={refresh} onDeleted={refresh} />
}

function History(props: Pick<VersionListProps, "branch" | "isOwn" | "onRestored" | "onDeleted">) {
  const { branch, isOwn } = props
  const { query } = currentLocation.value
  const file = query.get("file") ?? undefined
  const input = { val_id: branch.valId, branch_id: branch.id }
  const versions = usePages("listHistory", file === undefined ? input : { ...input, path: file })
  const loaded = versions.state.kind === "ready" ? versions.state.data.items : undefined
  const shown = readNumber(query.get("to")) ?? loaded?.[0]?.version ?? branch.version
  const reloadAfter = (refresh: () => Promise<void>) => async () => {
    await refresh()
    setQuery({ from: undefined, to: undefined })
    versions.reload()
  }
  const onRestored = reloadAfter(props.onRestored)
  const list = {
    branch,
    isOwn,
    shown,
    onRestored,
    onDeleted: reloadAfter(props.onDeleted),
    onNoted: (version: number, note: string | null) =>
      versions.change((it) => (it.version === version ? { ...it, note } : it)),
    before: new Map((loaded ?? []).flatMap(toPair)),
    hasPaths: file !== undefined || hasSeveralPaths(loaded ?? []),
  }
  return (
    <div class="versions">
      <section aria-label="Versions">
        <HistoryHead branch={branch} file={file} />
        <LoadedPages
          of={versions}
          rows={6}
          empty={
            <p class="quiet">
              {file === undefined ? "Nothing was saved yet." : "No version has changed it."}
            </p>
          }
        >
          {(items) => <VersionList {...list} items={items} />}
        </LoadedPages>
      </section>
      <VersionChanges
        branch={branch}
        isOwn={isOwn}
        file={file}
        to={shown}
        loaded={loaded?.map(({ version }) => version)}
        onRestored={onRestored}
      />
    </div>
  )
}

function VersionList({ items, ...list }: VersionListProps & { items: readonly VersionChange[] }) {
  return (
    <ol class="version-list">
      {groupVersions(items).map((group): ComponentChildren => {
        const [newest] = group
        if (!newest) return null
        return group.length === 1 ? (
          <VersionRow key={newest.version} {...list} version={newest} />
        ) : (
          <PushRow key={newest.version} {...list} push={group} />
        )
      })}
    </ol>
  )
}

/** Says which versions are listed, if they are not all of `main`. */
function HistoryHead(props: { readonly branch: ShownBranch; readonly file: string | undefined }) {
  const { branch, file } = props
  if (branch.isMain && file === undefined) return null
  return (
    <p class="version-filter breaks">
      {file === undefined ? null : (
        <>
          Versions that changed <code>{file}</code>.{" "}
          <a href={toHrefWith({ file: undefined, from: undefined, to: undefined })}>All files</a>
        </>
      )}{" "}
      {branch.isMain ? null : (
        <span class="quiet">
          Branch <b>{branch.name}</b>
        </span>
      )}
    </p>
  )
}

function toPair(
  { version }: VersionChange,
  index: number,
  all: readonly VersionChange[],
): [number, number][] {
  const before = all[index + 1]?.version
  return before === undefined ? [] : [[version, before]]
}

function hasSeveralPaths(versions: readonly VersionChange[]): boolean {
  return new Set(versions.flatMap(({ changes }) => changes.map(({ path }) => path))).size > 1
}
