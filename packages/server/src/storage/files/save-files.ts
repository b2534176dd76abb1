import type { Branch } from "../../domain/files/branches.ts"
import type { PlannedFile, PlannedState } from "../../domain/files/change-tree.ts"
import type { FileSave, SavedFiles } from "../../domain/files/file-saves.ts"
import { createTree, findEntry, isCode, type TreeFile } from "../../domain/files/tree.ts"
import type { Val } from "../../domain/vals/vals.ts"
import { inBatches } from "../database/batch-sizes.ts"
import { rows, type Script } from "../database/database.ts"
import type { Dialect } from "../database/dialect.ts"
import { join, sql } from "../database/sql.ts"
import { type LockedVal, noteChange, writeVal } from "../vals/change-val.ts"
import { lockVal, readVal } from "../vals/vals.ts"
import { readmePath, readPaths } from "./branch-rows.ts"
import { findBranch } from "./branches.ts"
import { noteMerge, readSides } from "./merges.ts"
import { type ChangedFile, type NextVersion, writeVersion } from "./write-version.ts"

/** Saves files as the next version of a branch, unless nothing changes. */
export function* saveFiles(
  dialect: Dialect,
  save: FileSave,
  at: number,
  depth: number,
): Script<SavedFiles | "no_val" | "no_branch"> {
  const { valId, branchId } = save
  // The imports of other branches are no references.
  const imports = branchId === valId ? save.imports : undefined
  const locked = yield* lockVal(dialect, { valId, imports })
  if (!locked) return "no_val"
  const branch = yield* findBranch(valId, branchId)
  if (!branch) return "no_branch"
  const tree = createTree(yield* readPaths(branchId, branch.version))
  const sides = save.mergedId ? yield* readSides(branch, tree, save.mergedId) : undefined
  const planned = save.plan(locked.val, branch, tree, sides)
  const changed = yield* withoutSame(branchId, planned.changed)
  const next = toNextVersion(branch, planned.files, changed, at, save.note)
  if (changed.length > 0) {
    yield* writeVersion(dialect, { ...locked.val, id: branchId }, next)
    yield* moveFiles(changed)
  }
  if (sides && save.mergedId) yield* noteMerge(save.mergedId, sides, planned.links ?? [])
  if (changed.length === 0)
    return { val: locked.val, branch, isNewVersion: false, paths: [], written: [], isRemote: false }
  const val = branchId === valId ? yield* noteMain(dialect, locked, imports, at, depth) : locked.val
  return {
    ...{ val, branch: (yield* findBranch(valId, branchId)) ?? branch, isNewVersion: true },
    paths: changed.map(({ path }) => path),
    written: changed.flatMap((state) => toWritten(state, next)),
    isRemote: next.packages === "fetch",
  }
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
      ({ text, origin }) =>
        sql`(path = ${origin.path} and since = ${origin.since} and content = ${text})`,
    )
    const found = yield* rows<{ file_id: string }>(
      sql`select file_id from states where branch_id = ${branchId} and (${join(conditions, " or ")})`,
    )
    for (const row of found) same.add(row.file_id)
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
  files: readonly PlannedFile[],
  changed: readonly PlannedState[],
  at: number,
  note: string | undefined,
): NextVersion {
  const version = branch.versionLast + 1
  const isWritten = new Set(changed.map(({ path }) => path))
  const sinceOf = ({ path, origin }: PlannedFile) =>
    isWritten.has(path) ? version : (origin?.since ?? version)
  // Clients tell by the time of a file whether it has changed, so it grows whatever the clock shows.
  const createdAt = Math.max(at, ...changed.map(({ origin }) => (origin?.updatedAt ?? 0) + 1))
  const entry = findEntry(files, branch.id)
  const readme = files.find(({ path, type }) => path === readmePath && type !== "directory")
  return {
    ...{ version, createdAt, note, entryType: entry?.type ?? null },
    entry: entry && { path: entry.path, since: sinceOf(entry) },
    readmeSince: readme && sinceOf(readme),
    changed: changed.map(toChanged),
    added: changed.filter(({ origin }) => !origin),
    packages: findPackages(branch, files, changed),
  }
}

function toChanged({ path, fileId, type, content, origin }: PlannedState): ChangedFile {
  const hasText = type !== null && type !== "directory"
  const kept = hasText && origin ? { same: origin } : undefined
  const text = content && hasText ? { content: content.text, imports: content.imports } : kept
  return { path, fileId, type, text }
}

/** The packages of files that stay as they are stay too. */
function findPackages(
  branch: Branch,
  files: readonly PlannedFile[],
  changed: readonly PlannedState[],
): NextVersion["packages"] {
  const texts = new Set(changed.flatMap(({ content, fileId }) => (content ? [fileId] : [])))
  if (changed.some(({ content }) => content?.isRemote)) return "fetch"
  const hasOther = files.some(({ type, fileId }) => isCode(type) && !texts.has(fileId))
  return hasOther ? { of: branch.version } : undefined
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
  at: number,
  depth: number,
): Script<Val> {
  const before = locked.val
  yield writeVal(before, { ...before, updatedAt: at })
  const after = (yield* readVal(before.id)) ?? before
  const isRelinked = imports !== undefined && (imports.length > 0 || locked.hasDependencies)
  return yield* noteChange(dialect, locked, after, { isNewVersion: true, isRelinked }, at, depth)
}

function toWritten(
  { path, fileId, type, content, origin }: PlannedState,
  { version: since, createdAt: updatedAt }: NextVersion,
): readonly TreeFile[] {
  if (type === null) return []
  return [{ path, fileId, type, since, updatedAt, bytes: (content ?? origin)?.bytes ?? 0 }]
}
