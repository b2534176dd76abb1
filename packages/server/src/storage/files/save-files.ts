import { limits } from "@hamlet/contract"
import { isConfigPath } from "@hamlet/contract/deno-json"
import { readmePath } from "@hamlet/contract/entry-file"
import {
  type Dialect,
  firstRow,
  inBatches,
  join,
  raw,
  rows,
  type Script,
  sql,
} from "@hamlet/database"
import type { Cause } from "../../domain/call-depth.ts"
import { settleAddresses } from "../../domain/files/addresses.ts"
import type { Branch } from "../../domain/files/branches.ts"
import {
  type PlannedFile,
  type PlannedState,
  type PlannedTree,
  tooManyImports,
} from "../../domain/files/change-tree.ts"
import type { FileSave, SavedFiles } from "../../domain/files/file-saves.ts"
import { createTree, findNextEntry, isCode, type TreeFile } from "../../domain/files/tree.ts"
import type { ChangedModule } from "../../domain/modules/imports/carry-over.ts"
import type { ScheduleLimits } from "../../domain/schedules/schedules.ts"
import type { Val } from "../../domain/vals/vals.ts"
import { emitSaved } from "../events/val-events.ts"
import { addSchedules } from "../schedules/file-schedules.ts"
import { toSearchedFiles, writeFileTexts } from "../search/file-texts.ts"
import { type LockedVal, noteChange, writeAddresses } from "../vals/changes/change-val.ts"
import { lockVal, readVal } from "../vals/vals.ts"
import { isState, readPaths, selectImports } from "./branch-rows.ts"
import { findBranch } from "./branches.ts"
import { noteMerge, readSides } from "./merges.ts"
import { findPackages } from "./version-packages.ts"
import {
  type ChangedFile,
  type NextVersion,
  type VersionPackages,
  writeVersion,
} from "./write-version.ts"

const noChange = { paths: [], written: [], schedules: [], isRemote: false }

/** Saves files as the next version of a branch, unless nothing changes. */
export function* saveFiles(
  dialect: Dialect,
  save: FileSave,
  schedules: ScheduleLimits,
  at: number,
  cause: Cause,
): Script<SavedFiles | "no_val" | "no_branch"> {
  const { valId, branchId, mergedId } = save
  // The imports of other branches are no references.
  const imports = branchId === valId ? save.imports : undefined
  const locked = yield* lockVal(dialect, { valId, imports })
  if (!locked) return "no_val"
  const branch = yield* findBranch(dialect, valId, branchId)
  if (!branch) return "no_branch"
  const tree = createTree(yield* readPaths(branchId, branch.version))
  const sides = mergedId ? yield* readSides(dialect, branch, tree, mergedId) : undefined
  const planned = save.plan(locked.val, branch, tree, sides)
  const changed = yield* withoutSame(branchId, planned.changed)
  if (changed.length === 0) {
    if (mergedId && sides) yield* noteMerge(mergedId, sides, planned.links ?? [])
    return { val: locked.val, branch, isNewVersion: false, ...noChange }
  }
  const entry = findNextEntry(tree, branch, planned.files)
  const mayHaveLockfile = branchId !== valId || locked.hasLockfile
  const packages = yield* findNextPackages(
    { ...branch, mayHaveLockfile },
    planned.files,
    changed,
    save.importHosts,
  )
  const next = {
    ...toNextVersion(branch, { ...planned, changed, entry }, at, save.note),
    packages,
  }
  yield* writeVersion(dialect, { ...locked.val, id: branchId }, next, cause.actorId, next.createdAt)
  if (changed.some(({ content }) => content?.imports.length))
    yield* assertImportsFit(branch, next.version)
  yield* moveFiles(changed)
  if (mergedId && sides) yield* noteMerge(mergedId, sides, planned.links ?? [])
  const start = branchId !== valId ? "paused" : save.isRestore ? "later" : "now"
  const intervals = findIntervals(changed)
  const added = yield* addSchedules(dialect, locked.val, intervals, schedules, start)
  const paths = changed.map(({ path }) => path)
  const written = changed.flatMap((state) => toWritten(state, next))
  let val = locked.val
  if (branchId === valId) {
    const before = { files: tree.files, entry: locked.main.entry }
    yield* writeAddresses(val, settleAddresses(val, before, { files: planned.files, entry }))
    val = yield* noteMain(dialect, locked, imports, paths, at, cause)
    const texts = writeFileTexts(
      dialect,
      valId,
      toSearchedFiles(tree.files, locked.main.entry?.path),
      toSearchedFiles(toFilesAfter(tree.files, changed, written), next.entry?.path),
    )
    if (texts) yield texts
  } else {
    const change = { change: "version", branch: branch.name, paths } as const
    yield* emitSaved(dialect, { ...val, version: next.version }, change, cause.depth)
  }
  return {
    val,
    branch: (yield* findBranch(dialect, valId, branchId)) ?? branch,
    isNewVersion: true,
    paths,
    written,
    schedules: added,
    isRemote: next.packages === "fetch",
  }
}

/** A version may have too many already, and then get fewer. */
function* assertImportsFit(branch: Branch, version: number): Script<void> {
  const count = yield* countImports(branch.id, version)
  if (
    count > limits.importsPerVersionMax &&
    count > (yield* countImports(branch.id, branch.version))
  )
    throw tooManyImports(count)
}

function* countImports(branchId: string, version: number): Script<number> {
  const row = yield* firstRow<{ count: number }>(
    selectImports(raw("count(*) as count"), branchId, version),
  )
  return row?.count ?? 0
}

/** A text that is the same as before is not written again, and keeps the pins of its imports. */
function* withoutSame(
  branchId: string,
  states: readonly PlannedState[],
): Script<readonly PlannedState[]> {
  const same = new Set<string>()
  const candidates = states.flatMap(({ content, origin, fileId }) =>
    content && content.bytes === origin?.bytes ? [{ text: content.text, origin, fileId }] : [],
  )
  for (const some of inBatches(candidates)) {
    const conditions = some.map(
      ({ text, origin }) => sql`(${isState(branchId, origin)} and content = ${text})`,
    )
    const found = yield* rows<{ fileId: string }>`
      select file_id from states where ${join(conditions, " or ")}`
    for (const row of found) same.add(row.fileId)
  }
  return states
    .map((state) => (same.has(state.fileId) ? { ...state, content: undefined } : state))
    .filter(
      ({ path, type, content, origin }) =>
        content !== undefined || origin?.path !== path || origin.type !== type,
    )
}

function toNextVersion(
  branch: Branch & { readonly versionLast: number },
  { files, changed, entry }: PlannedTree & { readonly entry: PlannedFile | undefined },
  at: number,
  note: string | undefined,
): Omit<NextVersion, "packages"> {
  const version = branch.versionLast + 1
  const isWritten = new Set(changed.map(({ path }) => path))
  const sinceOf = ({ path, origin }: PlannedFile) =>
    isWritten.has(path) ? version : (origin?.since ?? version)
  // Clients tell by the time of a file whether it has changed, so it grows whatever the clock shows.
  const createdAt = Math.max(at, ...changed.map(({ origin }) => (origin?.updatedAt ?? 0) + 1))
  const readme = files.find(({ path, type }) => path === readmePath && type !== "directory")
  return {
    version,
    createdAt,
    note,
    entryType: entry?.type ?? null,
    entry: entry && { path: entry.path, since: sinceOf(entry) },
    readmeSince: readme && sinceOf(readme),
    changed: changed.map(toChanged),
    fileCount: files.filter(({ type }) => type !== "directory").length,
    added: changed.filter(({ origin }) => !origin),
    ended: findEnded(changed),
  }
}

/** A file that was moved has ended at one path only. */
function findEnded(changed: readonly PlannedState[]): readonly string[] {
  const left = new Set(changed.flatMap(({ type, fileId }) => (type === null ? [] : [fileId])))
  return changed.flatMap(({ type, fileId }) => (type === null && !left.has(fileId) ? [fileId] : []))
}

/**
 * The files that become files of type `interval`. Only a save of files gives them schedules: clients
 * of `/v1/vals` set the type of a val, and then its schedule.
 */
function findIntervals(changed: readonly PlannedState[]): readonly string[] {
  return changed.flatMap(({ type, fileId, origin }) =>
    type === "interval" && origin?.type !== type ? [fileId] : [],
  )
}

function toChanged({ path, fileId, type, content, origin }: PlannedState): ChangedFile {
  const hasText = type !== null && type !== "directory"
  const kept = hasText && origin ? { same: origin } : undefined
  const text = content && hasText ? { content: content.text, imports: content.imports } : kept
  return { path, fileId, type, text }
}

/** The packages of files that stay as they are stay too. */
function* findNextPackages(
  branch: Branch & { readonly mayHaveLockfile: boolean },
  files: readonly PlannedFile[],
  changed: readonly PlannedState[],
  importHosts: FileSave["importHosts"],
): Script<VersionPackages> {
  const mayHaveConfig = [...files, ...changed].some(({ path }) => isConfigPath(path))
  const modules = changed.filter((state) => !isDirectory(state)).map(toModule)
  const decision = yield* findPackages(
    { ...branch, mayHaveConfig },
    modules,
    mayHaveConfig ? yield* readNewConfigs(branch.id, changed) : new Map(),
    importHosts,
  )
  if (decision === "none") return undefined
  if (decision !== "keep") return decision
  const texts = new Set(changed.flatMap(({ content, fileId }) => (content ? [fileId] : [])))
  const hasOther = files.some(({ type, fileId }) => isCode(type) && !texts.has(fileId))
  return hasOther ? { of: branch.version } : undefined
}

function isDirectory({ type, origin }: PlannedState): boolean {
  return (type ?? origin?.type) === "directory"
}

function toModule({ path, type, content, origin }: PlannedState): ChangedModule {
  const listPackages = content?.listPackages ?? (() => [])
  return {
    path,
    isEnd: type === null,
    from: content ? undefined : origin?.path,
    text: content && { code: content.text, listPackages },
  }
}

/** The texts that the files which may be the configuration get; null where one ends. */
function* readNewConfigs(
  branchId: string,
  changed: readonly PlannedState[],
): Script<ReadonlyMap<string, string | null>> {
  const texts = new Map<string, string | null>()
  for (const { path, type, content, origin } of changed) {
    if (!isConfigPath(path)) continue
    const isMoved = !content && type !== null && type !== "directory" && origin?.path !== path
    const row =
      isMoved && origin
        ? yield* firstRow<{ content: string | null }>`
          select content from states where branch_id = ${branchId} and path = ${origin.path} and since = ${origin.since}`
        : undefined
    if (content || isMoved || type === null)
      texts.set(path, type === null ? null : (content?.text ?? row?.content ?? null))
  }
  return texts
}

/** `files` has the last path of each file. */
function* moveFiles(changed: readonly PlannedState[]): Script<void> {
  for (const { path, fileId, type, origin } of changed)
    if (type !== null && origin && origin.path !== path)
      yield sql`update files set path = ${path} where id = ${fileId}`
}

/** What follows from a new version of `main`. */
function* noteMain(
  dialect: Dialect,
  locked: LockedVal,
  imports: FileSave["imports"],
  paths: readonly string[],
  at: number,
  cause: Cause,
): Script<Val> {
  const before = locked.val
  const after = (yield* readVal(dialect, before.id)) ?? before
  const isRelinked = imports !== undefined && (imports.length > 0 || locked.hasDependencies)
  return yield* noteChange(dialect, locked, after, { paths, isRelinked }, at, cause)
}

function toFilesAfter(
  before: readonly TreeFile[],
  changed: readonly PlannedState[],
  written: readonly TreeFile[],
): readonly TreeFile[] {
  const replaced = new Set(changed.map(({ path }) => path))
  return [...before.filter(({ path }) => !replaced.has(path)), ...written]
}

function toWritten(
  { path, fileId, type, content, origin }: PlannedState,
  { version: since, createdAt: updatedAt }: NextVersion,
): readonly TreeFile[] {
  if (type === null) return []
  return [{ path, fileId, type, since, updatedAt, bytes: (content ?? origin)?.bytes ?? 0 }]
}
