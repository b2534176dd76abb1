import { lstatSync, readdirSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { hasMoreFiles, pullNested } from "../checkout/account-trees.ts"
import type { OnFetch } from "../checkout/remote-tree.ts"
import { type FolderState, openFolderState } from "../files/folder-state.ts"
import { toReadmePath } from "../files/readme-file.ts"
import { limits } from "../limits.ts"
import type { Action, ActionDeps, ActionHandler } from "./actions/action.ts"
import { conflict, rescue, trash, write } from "./actions/file-actions.ts"
import {
  listReadmeTasks,
  performReadme,
  planReadme,
  type ReadmeDeps,
  type ReadmeTask,
} from "./actions/sync-readmes.ts"
import { create, deleteVal, forget, leave, note, save } from "./actions/val-actions.ts"
import type { Decision } from "./plan/decide.ts"
import type { ReadmeDecision } from "./plan/decide-readme.ts"
import { matchSides } from "./plan/match-sides.ts"
import { fetchActionVals, type PlanDeps, planActions } from "./plan/plan-actions.ts"
import type { RemoteVals } from "./remote-vals.ts"
import type { Scan } from "./scan-folder.ts"
import type { SyncEvent } from "./sync-event.ts"
import { nothingDone, type SyncResult, toSyncFailure } from "./sync-result.ts"

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
  deps: SyncDeps,
  scan: Scan,
  remote: RemoteVals,
): Promise<SyncResult> {
  const state = openFolderState(deps.folder, deps.serverUrl)
  const { matches, problems, stale } = matchSides({
    bases: state.files,
    scan,
    vals: remote.vals,
    owner: deps.owner,
  })
  const actions = await planActions(deps, matches)
  for (const [file, text] of problems) deps.report({ action: "problem", file, text })
  for (const [file, { problem: text }] of scan.readmes)
    if (text !== undefined) deps.report({ action: "problem", file, text })
  if (remote.hasMore)
    deps.report({
      action: "problem",
      file: "",
      text: `Cannot watch all vals: there are more than ${remote.vals.length}`,
    })
  if (deps.isDry) {
    for (const action of actions) reportPlan(deps, action)
    const tasks = listReadmeTasks(deps.folder, state, scan, remote.vals)
    const hasReadmeConflict = await reportReadmePlan(deps, state, tasks)
    return { ...nothingDone, hasConflict: actions.some(isConflict) || hasReadmeConflict }
  }
  const writer = createStateWriter(state)
  for (const path of stale) writer.state.delete(join(deps.folder, path))
  const tally: Tally = { ...nothingDone, hasConflict: actions.some(isConflict) }
  try {
    const actionDeps = {
      ...deps,
      state: writer.state,
      isTaken: createTaken(deps.folder, scan),
    }
    await performAll(deps, actionDeps, actions, tally, writer.soon)
    // Readmes follow their files.
    const tasks = listReadmeTasks(deps.folder, writer.state, scan, remote.vals)
    await performReadmes(deps, actionDeps, tasks, tally, writer.soon)
    return tally
  } finally {
    writer.now()
  }
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

type Tally = { -readonly [Field in keyof SyncResult]: SyncResult[Field] }

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

async function performAll(
  deps: SyncDeps,
  actionDeps: ActionDeps,
  actions: readonly Action[],
  tally: Tally,
  onDone: () => void,
): Promise<void> {
  for (let index = 0; index < actions.length; index += limits.watchFetchesMax) {
    for (const action of await fetchActionVals(
      deps,
      actions.slice(index, index + limits.watchFetchesMax),
    )) {
      if (deps.isStopping()) break
      const { kind } = action.decision
      try {
        const isFolder = await writeFolder(deps, actionDeps.state, action)
        const result = isFolder ? "done" : await handlers[kind](actionDeps, action)
        if (result === "raced") tally.isRaced = true
        else if (kind !== "note" || isFolder) tally.hasActed = true
        onDone()
      } catch (error) {
        const { path = "", val } = action.match
        addFailure(deps, tally, error, { file: path, val, isRename: kind === "save" })
      }
    }
  }
}

/**
 * One by one: each val is fetched right before its readme is saved, because no version protects a
 * readme.
 */
async function performReadmes(
  deps: SyncDeps,
  readmeDeps: ReadmeDeps,
  tasks: readonly ReadmeTask[],
  tally: Tally,
  onDone: () => void,
): Promise<void> {
  for (const task of tasks) {
    if (deps.isStopping()) break
    try {
      const action = await planReadme(readmeDeps, task)
      if (!action) continue
      const result = await performReadme(readmeDeps, action)
      tally.isRaced ||= result === "raced"
      tally.hasActed ||= result === "done" && action.kind !== "note"
      tally.hasConflict ||= action.kind === "conflict"
      onDone()
    } catch (error) {
      addFailure(deps, tally, error, { file: toReadmePath(task.path) })
    }
  }
}

/** Reports the failure of one action, unless the next round sees why; throws what affects all. */
function addFailure(
  deps: SyncDeps,
  tally: Tally,
  error: unknown,
  { isRename = false, ...about }: Pick<SyncEvent, "file" | "val"> & { readonly isRename?: boolean },
): void {
  const failure = toSyncFailure(error)
  // A name taken for a new val belongs to a val that the next round sees; for a rename it is a real
  // conflict.
  if (failure.isRaced && !(isRename && failure.isName)) tally.isRaced = true
  else {
    tally.exit ??= failure.exit
    deps.report({ action: "problem", ...about, text: failure.text })
  }
}

function isConflict({ decision: { kind } }: Action): boolean {
  return kind === "conflict" || kind === "rescue"
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

const planned: Readonly<Partial<Record<Decision["kind"], SyncEvent["action"]>>> = {
  write: "wrote",
  create: "created",
  save: "saved",
  conflict: "conflict",
  leave: "left",
  delete: "deleted",
  trash: "trashed",
  rescue: "conflict",
}

const plannedReadmes: Readonly<Partial<Record<ReadmeDecision, SyncEvent["action"]>>> = {
  write: "wrote",
  trash: "trashed",
  save: "saved",
  conflict: "conflict",
}

/** Returns whether there would be a conflict. */
async function reportReadmePlan(
  deps: SyncDeps,
  state: FolderState,
  tasks: readonly ReadmeTask[],
): Promise<boolean> {
  let hasConflict = false
  for (const task of tasks) {
    const planned = await planReadme({ ...deps, state }, task)
    const action = planned && plannedReadmes[planned.kind]
    if (planned && action)
      deps.report({ action, file: toReadmePath(task.path), val: planned.val, isPlanned: true })
    hasConflict ||= planned?.kind === "conflict"
  }
  return hasConflict
}

function reportPlan({ report }: SyncDeps, { match, decision }: Action): void {
  const { path, file, val, base, movedFrom } = match
  const action = planned[decision.kind] ?? (movedFrom === undefined ? undefined : "moved")
  if (action === undefined) return
  const name = file?.name ?? val?.name ?? base?.name ?? ""
  report({
    action,
    file: path ?? `${name}.ts`,
    val: { ...(val && { id: val.id, version: val.version }), name },
    isPlanned: true,
  })
}
