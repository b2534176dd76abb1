import { type Client, unlessMissing } from "@hamlet/contract/client"
import { CliError } from "../cli-error.ts"
import { hashText } from "../files/val-file.ts"
import { toParents } from "../watch/paths.ts"
import { performSteps, type RoundDeps, startRound } from "../watch/perform-steps.ts"
import { stepActions } from "../watch/sync-event.ts"
import type { SyncResult } from "../watch/sync-result.ts"
import {
  type BaseFile,
  type Checkout,
  loadCheckout,
  saveCheckout,
  toCheckoutName,
} from "./checkout-state.ts"
import { performFolderStep } from "./folder-steps.ts"
import {
  type FolderStep,
  isFolderStep,
  isValStep,
  planTree,
  type Step,
  type TreePlan,
  type ValStep,
} from "./plan-tree.ts"
import {
  createFetchText,
  fetchTree,
  getBranch,
  type OnFetch,
  type RemoteTree,
} from "./remote-tree.ts"
import { createTreeScanner, type TreeScan } from "./scan-tree.ts"
import { saveTree } from "./val-steps.ts"

/** Dependencies of the synchronisation of a folder with its val. */
export interface TreeDeps extends RoundDeps {
  readonly client: Client
  readonly folder: string
  readonly onFetch: OnFetch
}

/** What is known of a folder and its val at one moment. */
export interface ComparedTree extends TreePlan {
  readonly checkout: Checkout
  readonly remote: RemoteTree & { readonly texts: ReadonlyMap<string, string> }
}

/** Compares a scanned folder with its val. `mainVersion` is that of main, if the caller knows it. */
export async function compareTree(
  deps: TreeDeps,
  scan: TreeScan,
  mainVersion?: number,
): Promise<ComparedTree> {
  const checkout = adoptPending(loadCheckout(deps.folder), scan)
  const isKnown = mainVersion !== undefined && checkout.branch.id === checkout.val.id
  const branch = isKnown ? { version: mainVersion } : await getBranch(deps.client, checkout)
  const remote =
    branch.version === checkout.version
      ? toRecordedTree(checkout, branch.version)
      : await fetchTree(deps.client, checkout, branch, deps.onFetch)
  const plan = planTree({ base: checkout.files, scan, remote })
  const problems = new Map([...remote.refused, ...plan.problems])
  for (const [path, problem] of scan.blocked) if (problem !== undefined) problems.set(path, problem)
  return { checkout, remote, steps: plan.steps, problems }
}

/** Scans a folder once, and compares it with its val. */
export async function compareFolder(
  deps: TreeDeps,
): Promise<ComparedTree & { readonly scan: TreeScan }> {
  const scan = createTreeScanner(deps.folder, 0).scan(loadCheckout(deps.folder).files.keys())
  return { ...(await compareTree(deps, scan)), scan }
}

/** After an interruption: files that were written, but not recorded. */
function adoptPending(checkout: Checkout, scan: TreeScan): Checkout {
  const { pending = new Map<string, BaseFile>(), ...rest } = checkout
  const written = [...pending].filter(([path, { hash }]) => scan.files.get(path)?.hash === hash)
  const files = new Map(checkout.files)
  const ids = new Set(written.map(([, { id }]) => id))
  for (const [path, { id }] of checkout.files)
    if (ids.has(id) && !scan.files.has(path)) files.delete(path)
  for (const [path, file] of written) files.set(path, file)
  return { ...rest, files }
}

function toRecordedTree({ files }: Checkout, version: number): ComparedTree["remote"] {
  const directories = new Set([...files.keys()].flatMap(toParents))
  return { version, files, directories, refused: new Map(), texts: new Map() }
}

/** The result of changes to the folder. */
export interface PulledTree extends SyncResult {
  readonly checkout: Checkout
}

/**
 * Applies the changes of the val to the folder. Files with changes on both sides get the val's text,
 * and their own goes to a conflict file. `isForced` discards the changes of the folder, to the trash.
 */
export async function pullTree(
  given: TreeDeps,
  { checkout, remote, steps }: ComparedTree,
  isForced: boolean,
): Promise<PulledTree> {
  const { deps, tally } = startRound(given)
  const files = new Map<string, BaseFile>(checkout.files)
  const fetchText = createFetchText(deps.client, checkout, remote.version)
  const stepDeps = {
    ...deps,
    checkout,
    files,
    isForced,
    version: remote.version,
    getText: async (path: string) => remote.texts.get(path) ?? fetchText(path),
    findBaseText: (path: string) => findBaseText(deps.client, checkout, path),
  }
  const pending = steps.flatMap((step) =>
    isFolderStep(step) && step.theirs ? [[step.path, step.theirs] as const] : [],
  )
  // What is written before an interruption must not look like changes of the folder later.
  if (pending.length > 0)
    saveCheckout(deps.folder, { ...checkout, version: null, pending: new Map(pending) })
  const toDo = isForced ? steps.map((step) => toForcedStep(step, remote)) : steps
  const performed = sortSteps(toDo).map((step) => ({
    file: step.path,
    perform: () =>
      isFolderStep(step) ? performFolderStep(stepDeps, step) : recordStep(files, step),
  }))
  await performSteps(deps, tally, performed)
  const next = { ...checkout, version: toRecordedVersion(files, remote), files }
  if (pending.length > 0 || isChanged(checkout, next)) saveCheckout(deps.folder, next)
  return { ...tally, checkout: next }
}

/** Records what both sides have in common. */
function recordStep(files: Map<string, BaseFile>, step: Exclude<Step, FolderStep>): "noted" {
  if (step.kind === "forget") files.delete(step.path)
  if (step.kind === "note" && step.theirs) {
    if (step.before !== undefined) files.delete(step.before)
    files.set(step.path, step.theirs)
  }
  return "noted"
}

/** The recorded text of a file, if its version still exists. */
async function findBaseText(
  client: Client,
  checkout: Checkout,
  path: string,
): Promise<string | undefined> {
  const file = checkout.files.get(path)
  if (!file) return undefined
  const text = await unlessMissing(createFetchText(client, checkout, file.version)(path))
  // The recorded version is of another branch if the folder has just changed to this one.
  return text !== undefined && hashText(text) === file.hash ? text : undefined
}

/** The version of a tree, if all its files are recorded. */
function toRecordedVersion(
  files: ReadonlyMap<string, BaseFile>,
  { version, files: theirs, refused }: Pick<RemoteTree, "version" | "files" | "refused">,
): number | null {
  const isSame = [...theirs].every(([path, { id, version: since }]) => {
    const file = files.get(path)
    return file?.id === id && file.version === since
  })
  return isSame && files.size === theirs.size && refused.size === 0 ? version : null
}

function isChanged(before: Checkout, after: Checkout): boolean {
  if (before.version !== after.version || before.files.size !== after.files.size) return true
  return [...after.files].some(([path, file]) => before.files.get(path) !== file)
}

/** What leaves a path comes before what needs it. */
function sortSteps(steps: readonly Step[]): readonly Step[] {
  const isFirst = ({ kind }: Step) => ["forget", "trash", "rescue"].includes(kind)
  return [...steps].sort((one, other) => Number(isFirst(other)) - Number(isFirst(one)))
}

/** Discards a change of the folder. */
function toForcedStep(step: Step, remote: RemoteTree): Step {
  if (!isValStep(step) || step.kind === "create") return step
  const { path, newPath, hash } = step
  const theirs = remote.files.get(path)
  if (!theirs) return step
  const side: Pick<FolderStep, "path" | "theirs"> = { path, theirs }
  if (step.kind === "save") return { kind: "conflict", ...side, here: path, hash }
  if (newPath === undefined) return { kind: "write", ...side }
  return { kind: "write", ...side, here: newPath, before: newPath, hash: theirs.hash }
}

/** The result of a save. */
export interface PushedTree {
  readonly checkout: Checkout
  readonly steps: readonly ValStep[]
  readonly isNewVersion: boolean
}

/** Saves the changes of the folder in one version. Returns undefined if a file changed meanwhile. */
export async function pushTree(
  deps: TreeDeps,
  { checkout, remote, steps }: Pick<ComparedTree, "checkout" | "remote" | "steps">,
  note?: string,
): Promise<PushedTree | undefined> {
  const changes = steps.filter(isValStep)
  if (changes.length === 0) return { checkout, steps: [], isNewVersion: false }
  const { client, folder } = deps
  const saved = await saveTree({ client, folder, checkout, remote, note }, changes)
  if (!saved) return undefined
  const { version, isNewVersion } = saved
  const files = saved.record(checkout.files)
  const after = { ...remote, version, files: saved.record(remote.files) }
  const next = { ...checkout, version: toRecordedVersion(files, after), files }
  saveCheckout(folder, next)
  for (const { kind, path, newPath } of changes)
    deps.report({
      action: stepActions[kind],
      file: newPath ?? path,
      other: newPath === undefined ? undefined : path,
      val: { id: checkout.val.id, name: checkout.val.name, version },
    })
  return { checkout: next, steps: changes, isNewVersion }
}

/** Makes the val equal to the folder, whatever it has now; its versions are kept. */
export function toForcedPush(compared: ComparedTree, scan: TreeScan): ComparedTree {
  const { remote, checkout } = compared
  // A file of theirs that was never here is missing too.
  const missing = new Set(
    [...remote.files.keys()].filter((path) => !scan.files.has(path) && !scan.blocked.has(path)),
  )
  const { steps } = planTree({ base: remote.files, scan: { ...scan, missing }, remote })
  return { ...compared, checkout: { ...checkout, files: remote.files }, steps }
}

/** Refuses a save over changes that the folder does not have. */
export function assertCurrent({ checkout, steps }: ComparedTree): void {
  if (!steps.some(isFolderStep)) return
  throw new CliError(
    "conflict",
    `Cannot save the folder as ${toCheckoutName(checkout)}: the val has changed since the folder was written`,
    {
      advice:
        'fetch it with "hamlet val pull", or save over it with "--force"; old versions are kept',
    },
  )
}
