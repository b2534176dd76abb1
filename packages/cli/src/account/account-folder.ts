import { join } from "node:path"
import { type CheckoutFolderDeps, syncTree } from "../checkout/checkout-folder.ts"
import { loadCheckout, saveCheckout } from "../checkout/checkout-state.ts"
import { assertServer } from "../checkout/open-checkout.ts"
import { forEachConcurrently } from "../checkout/remote-tree.ts"
import { createTreeScanner, type TreeScan } from "../checkout/scan-tree.ts"
import { CliError } from "../cli-error.ts"
import { limits } from "../limits.ts"
import { assertNotMerging } from "../merging/merge-state.ts"
import { withLockedFolder } from "../watch/lock-folder.ts"
import { performSteps, type RoundDeps, startRound } from "../watch/perform-steps.ts"
import { createMissing } from "../watch/settled-file.ts"
import type { SyncResult, Tally } from "../watch/sync-result.ts"
import type { MarkedScan, SyncedFolder } from "../watch/watcher.ts"
import { openAccountRecord } from "./account-record.ts"
import { type Account, findAccount } from "./account-state.ts"
import { type AccountStepDeps, inFolder, toRoundStep } from "./account-steps.ts"
import { type AccountStep, planAccount } from "./plan-account.ts"
import { createRemoteVals, type ValState } from "./remote-vals.ts"
import { listValFolders, type ValFolders } from "./val-folders.ts"

/** Dependencies of the folder of an account. */
export interface AccountFolderDeps extends CheckoutFolderDeps {
  readonly serverUrl: string
  /** The signed-in user. */
  me(): Promise<Account["owner"]>
  readonly settleMs?: number
}

/** A scan of the folder of an account: which folders of vals it has, and what is in them. */
export interface AccountScan extends MarkedScan, ValFolders {
  /** By the name of the folder. One that cannot be read is in `problems` instead. */
  readonly trees: ReadonlyMap<string, TreeScan>
  /** The ids of recorded vals whose folder has been missing for a while. */
  readonly missing: ReadonlySet<string>
}

/** A folder with all vals of a user, each in a folder of its own. */
export function createAccountFolder(deps: AccountFolderDeps): SyncedFolder<AccountScan> {
  const { folder, settleMs = limits.watchSettleMs } = deps
  const remote = createRemoteVals(deps.client)
  const scan = createAccountScanner(folder, settleMs)
  /** What was last found in sync: the mark of the folder, and the version of the val, by its id. */
  const settled = new Map<string, string>()
  let hasBranches = false
  return {
    folder,
    settleMs,
    note: deps.note,
    // The list tells only of the branch main.
    poll: async () => (await remote.list()).isNew || hasBranches,
    scan() {
      const scanned = scan()
      hasBranches = scanned.onBranches.size > 0
      return scanned
    },
    async sync(scanned, isStopping) {
      const owner = await deps.me()
      const record = openAccountRecord(folder, { server: deps.serverUrl, owner })
      const { vals, hasMore } = await remote.list()
      const { deps: round, tally } = startRound({ ...deps, isStopping })
      const fresh = scanned.fresh.filter((name) => scanned.trees.has(name))
      const unsettled = new Set(fresh.filter((name) => scanned.trees.get(name)?.isUnsettled))
      const sides = { ...scanned, fresh, unsettled, known: record.vals, vals, hasMore }
      const { steps, problems } = planAccount(sides, deps.isDeleting)
      report(round, scanned, problems)
      if (hasMore)
        reportProblem(round, "", `Cannot watch all vals: there are more than ${vals.length}`)
      const stepDeps: AccountStepDeps = {
        ...round,
        owner,
        record,
        getTree: (name) => scanned.trees.get(name),
        async sync(name, val) {
          const tree = scanned.trees.get(name)
          if (!tree)
            throw new CliError("failed", scanned.problems.get(name) ?? `Cannot read "${name}"`)
          const { id, version } = val
          const mark = `${name} ${tree.mark} ${val.name} ${version}`
          if (settled.get(id) === mark && !scanned.onBranches.has(name)) return "noted"
          settled.delete(id)
          const { hasActed, isRaced, exit } = await syncVal(round, name, tree, val)
          tally.exit ??= exit
          if (!hasActed && !isRaced && exit === undefined) settled.set(id, mark)
          return isRaced ? "raced" : hasActed ? "done" : "noted"
        },
      }
      try {
        await performAll(stepDeps, tally, limitDeletions(steps))
        return tally
      } finally {
        if (!deps.isDry) record.save()
      }
    },
  }
}

/** Scans the folders of all vals. What was read is not read again while it is unchanged. */
function createAccountScanner(folder: string, settleMs: number): () => AccountScan {
  let scanners = new Map<string, ReturnType<typeof createTreeScanner>>()
  const findMissing = createMissing(settleMs)
  return () => {
    const known = findAccount(folder)?.vals ?? new Map<string, never>()
    const found = listValFolders(folder, new Set([...known.values()].map((val) => val.folder)))
    const problems = new Map(found.problems)
    const trees = new Map<string, TreeScan>()
    const next: typeof scanners = new Map()
    for (const name of [...found.checkouts.values(), ...found.fresh]) {
      const scanner = scanners.get(name) ?? createTreeScanner(join(folder, name), settleMs)
      next.set(name, scanner)
      try {
        trees.set(name, scanner.scan(found.paths.get(name) ?? []))
      } catch (error) {
        if (!(error instanceof CliError)) throw error
        problems.set(name, error.message)
      }
    }
    scanners = next
    const gone = [...known]
      .filter(([id, { folder: name }]) => !found.checkouts.has(id) && !problems.has(name))
      .map(([id]) => id)
    const { missing, isClear } = findMissing(gone, false)
    const marks = [...trees].map(([name, { mark }]) => `${name} ${mark}`)
    const others = [...found.loose, "problems", ...problems.keys(), "missing", ...missing]
    const mark = [...marks, "loose", ...others].join("\n")
    const isUnsettled = !isClear || [...trees.values()].some((tree) => tree.isUnsettled)
    return { ...found, problems, trees, missing, mark, isUnsettled }
  }
}

/** Synchronises the folder of one val, unless another program does that now. */
async function syncVal(
  deps: AccountFolderDeps & RoundDeps,
  name: string,
  tree: TreeScan,
  val: ValState,
): Promise<SyncResult> {
  const folder = join(deps.folder, name)
  const sync = async () => {
    assertNotMerging(folder)
    const checkout = loadCheckout(folder)
    assertServer(folder, checkout, { server: { url: deps.serverUrl } })
    if (checkout.val.name !== val.name && !deps.isDry)
      saveCheckout(folder, { ...checkout, val: { ...checkout.val, name: val.name } })
    return syncTree(inFolder(deps, name), tree, val.version)
  }
  return deps.isDry ? sync() : withLockedFolder(folder, sync)
}

/** What only fetches and saves files of one val is done for several at once, after the rest. */
async function performAll(
  deps: AccountStepDeps,
  tally: Tally,
  steps: readonly AccountStep[],
): Promise<void> {
  const isOfOne = ({ kind }: AccountStep) => kind === "sync" || kind === "write"
  const perform = async (step: AccountStep) =>
    performSteps(deps, tally, [toRoundStep(deps, step)], deps.record.saveSoon)
  for (const step of steps.filter((one) => !isOfOne(one))) await perform(step)
  let failure: { readonly error: unknown } | undefined
  await forEachConcurrently(steps.filter(isOfOne), limits.watchFetchesMax, async (step) => {
    if (failure) return
    try {
      await perform(step)
    } catch (error) {
      // The others end before the next round begins.
      failure = { error }
    }
  })
  if (failure) throw failure.error
}

/** When many folders disappear at once, it was probably a mistake. */
function limitDeletions(steps: readonly AccountStep[]): readonly AccountStep[] {
  const count = steps.filter(({ kind }) => kind === "delete").length
  if (count <= limits.watchDeletionsMax) return steps
  return steps.map((step) => (step.kind === "delete" ? { ...step, kind: "leave" } : step))
}

function report(
  deps: RoundDeps,
  { loose, problems }: AccountScan,
  planned: ReadonlyMap<string, string>,
): void {
  for (const [name, text] of [...problems, ...planned]) reportProblem(deps, name, text)
  for (const name of loose)
    reportProblem(
      deps,
      name,
      `Cannot save "${name}": each val has a folder here; move the file into one, or add "${name}" to .hamletignore`,
    )
}

function reportProblem({ report }: RoundDeps, file: string, text: string): void {
  report({ action: "problem", file, text })
}
