import { basename, join } from "node:path"
import { listNested } from "../checkout/account-trees.ts"
import { type CheckoutFolderDeps, createCheckoutFolder } from "../checkout/checkout-folder.ts"
import { loadCheckout } from "../checkout/checkout-state.ts"
import type { TreeScan } from "../checkout/scan-tree.ts"
import { limits } from "../limits.ts"
import { createRemoteVals } from "./remote-vals.ts"
import { createScanner, type Scan } from "./scan-folder.ts"
import { listKnownPaths, type SyncDeps, syncFolder } from "./sync-folder.ts"
import { addResults, nothingDone, type SyncResult, toSyncFailure } from "./sync-result.ts"
import type { MarkedScan, SyncedFolder } from "./watcher.ts"

/** Dependencies of the folder of an account. */
export interface AccountFolderDeps
  extends Omit<SyncDeps, "owner" | "isStopping">,
    CheckoutFolderDeps {
  /** The signed-in user. */
  me(): Promise<{ readonly id: string }>
  readonly settleMs?: number
}

/** A scan of the folder of an account, and of the folders of vals in it. */
export interface AccountScan extends MarkedScan {
  readonly files: Scan
  /** By the id of the val. */
  readonly trees: ReadonlyMap<string, TreeScan>
}

/** A folder with all vals of a user. Vals with several files have folders of their own in it. */
export function createAccountFolder(deps: AccountFolderDeps): SyncedFolder<AccountScan> {
  const settleMs = deps.settleMs ?? limits.watchSettleMs
  const remote = createRemoteVals(deps.client)
  const scanner = createScanner(deps.folder, settleMs)
  const nested = createNestedFolders(deps)
  return {
    folder: deps.folder,
    settleMs,
    note: deps.note,
    poll: async () => (await remote.list()).isNew,
    scan() {
      const files = scanner.scan(listKnownPaths(deps))
      const trees = nested.scan()
      const all = [files, ...trees.values()]
      const mark = all.map((one) => one.mark).join(" ")
      return { files, trees, mark, isUnsettled: all.some((one) => one.isUnsettled) }
    },
    async sync({ files, trees }, isStopping) {
      const { id: owner } = await deps.me()
      const listed = await remote.list()
      const vals = listed.vals.filter(({ id }) => !trees.has(id))
      let result = await syncFolder({ ...deps, owner, isStopping }, files, { ...listed, vals })
      for (const [id, tree] of trees) {
        if (isStopping()) break
        const val = listed.vals.find((one) => one.id === id)
        result = addResults(result, await nested.sync(id, tree, val?.version, isStopping))
      }
      return result
    },
  }
}

/** The folders of vals in the folder of an account. */
function createNestedFolders(deps: AccountFolderDeps) {
  const opened = new Map<string, SyncedFolder<TreeScan>>()
  const settled = new Map<string, string>()
  const open = (folder: string) => {
    const name = basename(folder)
    const report: SyncDeps["report"] = (event) =>
      deps.report({ ...event, file: join(name, event.file) })
    return createCheckoutFolder({ ...deps, folder, report })
  }
  return {
    scan(): ReadonlyMap<string, TreeScan> {
      const found = listNested(deps.folder)
      for (const [id, { folder }] of opened) if (found.get(id) !== folder) opened.delete(id)
      for (const [id, folder] of found) if (!opened.has(id)) opened.set(id, open(folder))
      return new Map([...opened].map(([id, folder]) => [id, folder.scan()]))
    },
    async sync(
      id: string,
      scan: TreeScan,
      version: number | undefined,
      isStopping: () => boolean,
    ): Promise<SyncResult> {
      const folder = opened.get(id)
      if (!folder) return nothingDone
      // Without a change on either side there is nothing to ask the server.
      const { branch, version: recorded } = loadCheckout(folder.folder)
      const mark = `${scan.mark} ${version}`
      if (branch.id === id && recorded === version && settled.get(id) === mark) return nothingDone
      settled.delete(id)
      try {
        const result = await folder.sync(scan, isStopping)
        if (!result.hasActed && !result.isRaced) settled.set(id, mark)
        return result
      } catch (error) {
        // The others go on, unless the server does not respond.
        const { exit, text } = toSyncFailure(error)
        deps.report({ action: "problem", file: basename(folder.folder), text })
        return { ...nothingDone, exit }
      }
    },
  }
}
