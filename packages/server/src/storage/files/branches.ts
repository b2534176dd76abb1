import { limits } from "@hamlet/contract"
import { readmePath } from "@hamlet/contract/entry-file"
import {
  type Database,
  type Dialect,
  firstRow,
  raw,
  rows,
  type Script,
  type Statements,
  sql,
} from "@hamlet/database"
import { findCause } from "../../domain/call-depth.ts"
import {
  type Branch,
  type BranchOfVal,
  type BranchStore,
  branchExists,
  branchNotFound,
  type NewBranch,
  tooManyBranches,
} from "../../domain/files/branches.ts"
import { createTree } from "../../domain/files/tree.ts"
import type { ScheduleLimits } from "../../domain/schedules/schedules.ts"
import type { AssertVal } from "../../domain/vals/vals.ts"
import { writeOnce } from "../accounts/write-once.ts"
import { lockVals } from "../references/row-locks.ts"
import { copySchedules, type ScheduleCopy } from "../schedules/file-schedules.ts"
import { isJoinedId } from "../vals/val-rows.ts"
import { readVal } from "../vals/vals.ts"
import { readPaths } from "./branch-rows.ts"
import { type CopiedFile, insertBranch, writeVersion } from "./write-version.ts"

export type BranchRow = Branch & { readonly versionLast: number }

/** The columns of a branch `b`, with the join of `withEntryFile`. */
export const branchColumns = raw(
  "b.id, b.val_id, b.name, b.version, b.version_last, b.created_at, b.updated_at, b.forked_from_id, e.file_id as entry_file_id",
)

/** Joins the newest version `n` of the branch `b` and its entry file `e`. */
export const withEntryFile = raw(
  `join versions n on n.branch_id = b.id and n.version = b.version
  left join states e on e.branch_id = n.branch_id and e.path = n.entry_path and e.since = n.entry_since`,
)

/** Branches in the database. `schedules` limits the schedules of new ones. */
export function createBranchStore(db: Database, schedules: ScheduleLimits): BranchStore {
  return {
    find: (valId, branchId) => db.first<BranchRow>(selectBranch(db.dialect, valId, branchId)),
    list: (valId) =>
      db.read<BranchRow>`
        select ${branchColumns} from branches b ${withEntryFile} where b.val_id = ${valId}`,
    create(branch, assert, at) {
      const { actorId } = findCause()
      const creation = { ...branch, schedules, assert, authorId: actorId, at }
      return writeOnce(db, () => createBranch(db.dialect, creation), { inTurnOf: branch.valId })
    },
    delete: (valId, branchId, assert) =>
      db.write(() => deleteBranch(db.dialect, valId, branchId, assert), { inTurnOf: valId }),
  }
}

/** A branch in a script, with the highest version number it has ever had. */
export function findBranch(
  dialect: Dialect,
  valId: string,
  branchId: string,
): Statements<BranchRow | undefined> {
  return firstRow<BranchRow>(selectBranch(dialect, valId, branchId))
}

function selectBranch(dialect: Dialect, valId: string, branchId: string) {
  return sql`select ${branchColumns} from branches b ${withEntryFile} where ${isJoinedId(dialect, "b.id", branchId)} and b.val_id = ${valId}`
}

interface BranchCreation extends NewBranch {
  readonly schedules: ScheduleLimits
  readonly assert: AssertVal
  readonly authorId: string | null
  readonly at: number
}

/** The lock of the val is that of all its branches. */
function* createBranch(
  dialect: Dialect,
  { id, valId, name, sourceId, schedules, assert, authorId, at }: BranchCreation,
): Script<BranchOfVal | undefined> {
  yield* lockVals(dialect, { valId })
  const val = yield* readVal(dialect, valId)
  if (!val) return undefined
  assert(val)
  const names = yield* rows<{ nameKey: string }>`
    select name_key from branches where val_id = ${valId}`
  if (names.some((row) => row.nameKey === name.toLowerCase())) throw branchExists(name)
  if (names.length >= limits.branchesPerValMax) throw tooManyBranches()
  const source = yield* findBranch(dialect, valId, sourceId)
  if (!source) throw branchNotFound(sourceId)
  const { files, entry, intervals } = yield* planCopy(source, id)
  yield insertBranch({ id, valId, name, createdAt: at, parent: source })
  yield sql`update vals set branch_count = ${names.length + 1} where id = ${valId}`
  const first = {
    version: 0,
    createdAt: at,
    copyOf: source.id,
    entry: entry && { path: entry.path, since: 0 },
    entryType: entry?.type ?? null,
    readmeSince: files.some(({ path }) => path === readmePath) ? 0 : undefined,
    changed: files,
    added: files,
    ended: [],
    fileCount: files.filter(({ type }) => type !== "directory").length,
    packages: { of: source.version },
  }
  yield* writeVersion(dialect, { ...val, id }, first, authorId, at)
  yield* copySchedules(dialect, val, intervals, schedules)
  const created = yield* findBranch(dialect, valId, id)
  return created && { val, branch: created }
}

/** The copies of the newest files of a branch. Their ids are new; the entry file has the branch's. */
function* planCopy(
  source: Branch,
  branchId: string,
): Script<{
  readonly files: readonly (CopiedFile & { readonly originId: string })[]
  readonly entry: CopiedFile | undefined
  readonly intervals: readonly ScheduleCopy[]
}> {
  const { files } = createTree(yield* readPaths(source.id, source.version))
  const copies = files.map(({ path, since, fileId, type, updatedAt, bytes }) => ({
    path,
    fileId: fileId === source.id ? branchId : Bun.randomUUIDv7(),
    originId: fileId,
    type,
    createdAt: updatedAt,
    text: { same: { path, since, bytes } },
  }))
  const intervals = copies.flatMap(({ fileId: to, originId: from, type }) =>
    type === "interval" ? [{ from, to }] : [],
  )
  return {
    files: copies,
    entry: copies.find(({ originId }) => originId === source.entryFileId),
    intervals,
  }
}

function* deleteBranch(
  dialect: Dialect,
  valId: string,
  branchId: string,
  assert: AssertVal,
): Script<"deleted" | "no_val" | "none"> {
  yield* lockVals(dialect, { valId })
  const val = yield* readVal(dialect, valId)
  if (!val) return "no_val"
  assert(val)
  if (!(yield* findBranch(dialect, valId, branchId))) return "none"
  yield sql`update branches set forked_from_id = null where val_id = ${valId} and forked_from_id = ${branchId}`
  yield sql`delete from branches where id = ${branchId}`
  yield sql`update vals set branch_count = branch_count - 1 where id = ${valId}`
  return "deleted"
}
