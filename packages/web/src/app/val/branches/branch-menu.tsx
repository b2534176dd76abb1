import { useSignal } from "@preact/signals"
import { setTo } from "../../../ui/bind.ts"
import { Icon } from "../../../ui/icon.tsx"
import { api } from "../../api.ts"
import { useResource } from "../../data/resource.ts"
import { Menu, MenuItem } from "../../parts/buttons/menu.tsx"
import { TimeAgo } from "../../parts/time-ago.tsx"
import { mainBranch } from "../files/load-files.ts"
import { DeleteBranchDialog, NewBranchDialog } from "./branch-dialogs.tsx"
import { type ListedBranch, toBranchQuery, useBranches } from "./use-branches.ts"

interface BranchMenuProps {
  readonly val: {
    readonly id: string
    readonly name: string
    readonly author: { readonly username: string }
    readonly branchCount?: number
  }
  /** The branch on the page. */
  readonly branch: { readonly id: string; readonly name: string; readonly version: number }
  readonly isOwn: boolean
  readonly onSwitch: (name: string) => void
}

type Opened = "new" | "delete"

/**
 * The branch on the page, and a menu to change it. A val with `main` alone shows only a sign; others
 * show the name.
 */
export function BranchMenu(props: BranchMenuProps) {
  const { val, branch, isOwn, onSwitch } = props
  const opened = useSignal<Opened | undefined>(undefined)
  const isNamed = branch.name !== mainBranch || (val.branchCount ?? 1) > 1
  // A visitor of a val without branches has nothing to choose.
  if (!isOwn && !isNamed) return null
  const shared = { valId: val.id, onClose: setTo(opened, undefined) }
  return (
    <>
      <Menu
        label={`Branch ${branch.name}`}
        title={`Branch ${branch.name}`}
        buttonClass={
          isNamed
            ? `badge branch-button ${branch.name === mainBranch ? "branch-main" : ""}`
            : "icon-button"
        }
        button={
          <>
            <Icon name="branch" />
            {isNamed ? <span class="ellipsis branch-name">{branch.name}</span> : null}
          </>
        }
      >
        <BranchItems {...props} onOpen={(what) => setTo(opened, what)()} />
      </Menu>
      {opened.value === "new" ? (
        <NewBranchDialog {...shared} source={branch} onCreated={onSwitch} />
      ) : null}
      {opened.value === "delete" ? (
        <DeleteBranchDialog {...shared} branch={branch} onDeleted={() => onSwitch(mainBranch)} />
      ) : null}
    </>
  )
}

/** What the menu contains; the branches are fetched when it is opened. */
function BranchItems(props: BranchMenuProps & { readonly onOpen: (what: Opened) => void }) {
  const { val, branch, isOwn, onSwitch, onOpen } = props
  const { state } = useBranches(val.id)
  const isMain = branch.name === mainBranch
  const base = `/u/${val.author.username}/${val.name}`
  const others =
    state.kind === "ready" ? state.data.filter(({ name }) => name !== branch.name) : undefined
  const current = state.kind === "ready" ? state.data.find(({ id }) => id === branch.id) : undefined
  return (
    <>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is no part of a menu */}
      <div class="branch-items" role="group" aria-label="Branches">
        <BranchItem branch={current ?? branch} isCurrent onSwitch={onSwitch} />
        {others?.map((other) => (
          <BranchItem key={other.id} branch={other} onSwitch={onSwitch} />
        ))}
      </div>
      {state.kind === "failed" ? (
        <p class="branch-failure">The branches cannot be loaded.</p>
      ) : null}
      <hr />
      {isOwn ? (
        <MenuItem
          icon="plus"
          label={`New branch from ${branch.name}…`}
          onClick={() => onOpen("new")}
        />
      ) : null}
      {isMain && others?.length === 0 ? null : (
        <MenuItem
          icon="compare"
          label={isOwn ? "Compare and merge" : "Compare"}
          href={`${base}/branches${toBranchQuery(branch.name)}`}
        />
      )}
      {isMain ? null : <PreviewItem valId={val.id} branchId={branch.id} />}
      {isMain || !isOwn ? null : (
        <MenuItem icon="trash" label="Delete this branch…" onClick={() => onOpen("delete")} />
      )}
    </>
  )
}

function BranchItem(props: {
  readonly branch: Pick<ListedBranch, "name" | "version"> & Partial<Pick<ListedBranch, "updatedAt">>
  readonly isCurrent?: boolean
  readonly onSwitch: (name: string) => void
}) {
  const { branch, isCurrent = false, onSwitch } = props
  return (
    <button
      type="button"
      role="menuitemradio"
      aria-checked={isCurrent}
      onClick={() => (isCurrent ? undefined : onSwitch(branch.name))}
    >
      <Icon name={isCurrent ? "check" : "branch"} />
      <span class="ellipsis branch-name">{branch.name}</span>
      <span class="quiet push">
        v{branch.version}
        {branch.updatedAt === undefined ? null : (
          <>
            {" · "}
            <TimeAgo at={branch.updatedAt} />
          </>
        )}
      </span>
    </button>
  )
}

/** A link to the page that the branch serves, if it has one. */
function PreviewItem({ valId, branchId }: { valId: string; branchId: string }) {
  const { state } = useResource(`preview of ${branchId}`, (signal) =>
    findPreview(valId, branchId, signal),
  )
  if (state.kind !== "ready" || state.data === undefined) return null
  return (
    <a role="menuitem" href={state.data} target="_blank" rel="noopener noreferrer">
      <Icon name="external" /> Open its page
    </a>
  )
}

/** The address of the first http file: at the root before directories, `main` and `index` first. */
async function findPreview(
  valId: string,
  branchId: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const query = { val_id: valId, branch_id: branchId, path: "", recursive: true, limit: 100 }
  const { data } = await api.listFiles(query, { signal })
  const served = data.filter(({ links }) => links.endpoint !== undefined)
  const first = served.find(({ path }) => /^(main|index)\.[jt]sx?$/.test(path)) ?? served[0]
  return first?.links.endpoint
}
