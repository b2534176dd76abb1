import { lstatSync, readdirSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { hasMoreFiles, pullNested } from "../checkout/account-trees.ts"
import type { OnFetch } from "../checkout/remote-tree.ts"
import { type FolderState, openFolderState } from "../files/folder-state.ts"
import { limits } from "../limits.ts"
import type { Action, ActionDeps, ActionHandler } from "./actions/action.ts"
import { conflict, rescue, trash, write } from "./actions/file-actions.ts"
import { listReadmeTasks, toReadmeSteps } from "./actions/sync-readmes.ts"
import { create, deleteVal, forget, leave, note, save } from "./actions/val-actions.ts"
import { performSteps, type RoundStep, type StepResult, startRound } from "./perform-steps.ts"
import type { Decision } from "./plan/decide.ts"
import { matchSides } from "./plan/match-sides.ts"
import { fetchActionVals, type PlanDeps, planActions } from "./plan/plan-actions.ts"
import type { RemoteVals } from "./remote-vals.ts"
import type { Scan } from "./scan-folder.ts"
import { type SyncEvent, stepActions } from "./sync-event.ts"
import type { SyncResult } from "./sync-result.ts"

/** Dependencies of a synchronisation. */
export interface SyncDeps extends PlanDeps {
  readonly folder: string
  readonly serverUrl: string
  readonly onFetch: OnFetch
  /** Report what would be done, and do nothing. */
  readonly isDry: boolean
}

/** Synchronises a scanned folder with the listed vals, and records each step. */
export async function syncFolder(
  given: SyncDeps,
  scan: Scan,
  remote: RemoteVals,
): Promise<SyncResult> {
  const { deps, tally } = startRound(given)
  const writer = createStateWriter(openFolderState(deps.folder, deps.serverUrl))
  const { state } = writer
  const { matches, problems, stale } = matchSides({
    bases: state.files,
    scan,
    vals: remote.vals,
    owner: deps.owner,
  })
  const actions = await planActions(deps, matches)
  for (const [file, text] of problems) deps.report({ action: "problem", file, text })
  if (remote.hasMore)
    deps.report({
      action: "problem",
      file: "",
      text: `Cannot watch all vals: there are more than ${remote.vals.length}`,
    })
  for (const path of stale) state.delete(join(deps.folder, path))
  try {
    const actionDeps = { ...deps, state, isTaken: createTaken(deps.folder, scan) }
    await performSteps(deps, tally, toValSteps(actionDeps, actions), writer.soon)
    // Readmes follow their files.
    const tasks = listReadmeTasks(deps.folder, state, scan, remote.vals)
    await performSteps(deps, tally, toReadmeSteps(actionDeps, tasks), writer.soon)
    return tally
  } finally {
    if (!deps.isDry) writer.now()
  }
}

/** The vals that steps still need are fetched several at once. */
async function* toValSteps(
  deps: SyncDeps & ActionDeps,
  actions: readonly Action[],
): AsyncGenerator<RoundStep> {
  for (let index = 0; index < actions.length; index += limits.watchFetchesMax) {
    const batch = actions.slice(index, index + limits.watchFetchesMax)
    for (const action of deps.isDry ? batch : await fetchActionVals(deps, batch))
      yield {
        file: action.match.path ?? "",
        val: action.match.val,
        isRename: action.decision.kind === "save",
        planned: toPlanned(action),
        perform: () => perform(deps, action),
      }
  }
}

async function perform(deps: SyncDeps & ActionDeps, action: Action): Promise<StepResult> {
  const isFolder = await writeFolder(deps, deps.state, action)
  return isFolder ? "done" : handlers[action.decision.kind](deps, action)
}

function toPlanned({ match, decision }: Action): SyncEvent | undefined {
  const { path, file, val, base, movedFrom } = match
  const action = stepActions[decision.kind] ?? (movedFrom === undefined ? undefined : "moved")
  const name = file?.name ?? val?.name ?? base?.name ?? ""
  const version = val && { id: val.id, version: val.version }
  return action && { action, file: path ?? `${name}.ts`, val: { ...version, name } }
}

/**
 * Writes a val as a folder if it has several files, and its file would only be written or noted.
 * Returns whether it did.
 */
async function writeFolder(
  deps: SyncDeps,
  state: FolderState,
  { decision: { kind }, val }: Action,
): Promise<boolean> {
  const isDue = val !== undefined && (kind === "write" || kind === "note")
  if (!isDue || !(await hasMoreFiles(deps.client, val))) return false
  await pullNested(deps, state, deps.serverUrl, val, false)
  return true
}

/** The recorded paths of a folder. */
export function listKnownPaths(deps: Pick<SyncDeps, "folder" | "serverUrl">): readonly string[] {
  return [...openFolderState(deps.folder, deps.serverUrl).files.keys()]
}

const handlers: Readonly<Record<Decision["kind"], ActionHandler>> = {
  nothing: () => "done",
  note,
  write,
  create,
  save,
  conflict,
  leave,
  delete: deleteVal,
  trash,
  rescue,
  forget,
}

/**
 * Delays writing the folder's state: with thousands of vals, writing takes longer than the actions.
 */
function createStateWriter(state: FolderState) {
  let isChanged = false
  let savedMs = Date.now()
  const now = () => {
    if (isChanged) state.save()
    isChanged = false
    savedMs = Date.now()
  }
  const changing =
    <Args extends readonly unknown[]>(change: (...args: Args) => void) =>
    (...args: Args) => {
      isChanged = true
      change(...args)
    }
  return {
    now,
    soon: () => (Date.now() - savedMs >= limits.watchNoteMs ? now() : undefined),
    state: { ...state, set: changing(state.set), delete: changing(state.delete) },
  }
}

/**
 * Whether a path is taken, ignoring case. The folder is listed only for paths that were seen, so
 * that many files can be created quickly.
 */
function createTaken(folder: string, scan: Scan): (path: string) => boolean {
  const seen = new Set(
    [...scan.files.keys(), ...scan.blocked.keys()].map((path) => path.toLowerCase()),
  )
  return (path) => {
    const isThere = lstatSync(join(folder, path), { throwIfNoEntry: false }) !== undefined
    if (isThere || !seen.has(path.toLowerCase())) return isThere
    const names = readdirSync(join(folder, dirname(path)))
    return names.some((name) => name.toLowerCase() === basename(path).toLowerCase())
  }
}
