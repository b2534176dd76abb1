import { isVersionConflict } from "../failure.ts"
import { limits } from "../limits.ts"
import { startRound } from "../watch/perform-steps.ts"
import { stepActions } from "../watch/sync-event.ts"
import type { SyncResult } from "../watch/sync-result.ts"
import type { SyncedFolder } from "../watch/watcher.ts"
import { loadCheckout } from "./checkout-state.ts"
import { isFolderStep, type Step } from "./plan-tree.ts"
import { getBranch } from "./remote-tree.ts"
import { createTreeScanner, type TreeScan } from "./scan-tree.ts"
import { type ComparedTree, compareTree, pullTree, pushTree, type TreeDeps } from "./sync-tree.ts"

/** Dependencies of the folder of one val. */
export interface CheckoutFolderDeps extends Omit<TreeDeps, "isStopping"> {
  /** Delete any number of files at once. */
  readonly isDeleting: boolean
  /** Report what would be done, and do nothing. */
  readonly isDry: boolean
  note(text: string): void
}

/** The folder of one val. A round first applies the changes of the val, and then saves the others. */
export function createCheckoutFolder(deps: CheckoutFolderDeps): SyncedFolder<TreeScan> {
  const { client, folder } = deps
  const scanner = createTreeScanner(folder, limits.watchSettleMs)
  let version: number | undefined
  return {
    folder,
    settleMs: limits.watchSettleMs,
    note: deps.note,
    async poll() {
      const before = version
      version = (await getBranch(client, loadCheckout(folder))).version
      return before !== version
    },
    scan: () => scanner.scan(loadCheckout(folder).files.keys()),
    sync: (scan, isStopping) => syncTree({ ...deps, isStopping }, scan),
  }
}

/** Does one round. `version` is that of the branch main, if the caller knows it. */
export async function syncTree(
  deps: CheckoutFolderDeps & TreeDeps,
  scan: TreeScan,
  version?: number,
): Promise<SyncResult> {
  const compared = await compareTree(deps, scan, version)
  for (const [file, text] of compared.problems) deps.report({ action: "problem", file, text })
  const steps = deps.isDeleting ? compared.steps : keepWhenMany(deps, compared.steps)
  if (deps.isDry) return reportPlan(deps, { ...compared, steps })
  const { checkout, ...pulled } = await pullTree(deps, { ...compared, steps }, false)
  if (deps.isStopping()) return pulled
  try {
    const pushed = await pushTree(deps, { checkout, remote: compared.remote, steps })
    const hasActed = pulled.hasActed || (pushed?.steps.length ?? 0) > 0
    return { ...pulled, hasActed, isRaced: pulled.isRaced || !pushed }
  } catch (error) {
    if (!isVersionConflict(error)) throw error
    return { ...pulled, isRaced: true }
  }
}

/** When many files disappear at once, it was probably a mistake. */
function keepWhenMany({ report }: TreeDeps, steps: readonly Step[]): readonly Step[] {
  const deletions = steps.filter(({ kind }) => kind === "delete")
  if (deletions.length <= limits.watchDeletionsMax) return steps
  report({
    action: "problem",
    file: "",
    text: `Cannot delete ${deletions.length} files at once: restore them with "hamlet val pull --force", or delete them with "--delete" or "hamlet val push"`,
  })
  return steps.filter(({ kind }) => kind !== "delete")
}

function reportPlan(
  given: TreeDeps,
  { checkout, remote, steps }: Pick<ComparedTree, "checkout" | "remote" | "steps">,
): SyncResult {
  const { deps, tally } = startRound(given)
  const { id, name } = checkout.val
  for (const step of steps) {
    const action = stepActions[step.kind]
    if (action === undefined) continue
    const other = "newPath" in step ? step.path : isFolderStep(step) ? step.before : undefined
    const file = "newPath" in step ? (step.newPath ?? step.path) : step.path
    const val = { id, name, version: remote.version }
    deps.report({ action, file, other, val, isPlanned: true })
  }
  return tally
}
