import { limits } from "@hamlet/contract"
import { readmePath } from "@hamlet/contract/entry-file"
import {
  type Branch,
  type BranchOfVal,
  type BranchStore,
  branchExists,
  branchNotFound,
  type NewBranch,
  tooManyBranches,
} from "../../domain/files/branches.ts"
import { createTree, type FileType } from "../../domain/files/tree.ts"
import type { ScheduleLimits } from "../../domain/schedules/schedules.ts"
import type { AssertVal } from "../../domain/vals/vals.ts"
import { type Database, firstRow, rows, type Script } from "../database/database.ts"
import type { Dialect } from "../database/dialect.ts"
import { raw, type Statements, sql } from "../database/sql.ts"
import { writeOnce } from "../database/write-once.ts"
import { takeOverLockfile } from "../modules/lockfiles.ts"
import { lockVals } from "../references/row-locks.ts"
import { type CopiedFile, copySchedules } from "../schedules/file-schedules.ts"
import { isJoinedId } from "../vals/val-rows.ts"
import { readVal } from "../vals/vals.ts"
import { readPaths } from "./branch-rows.ts"
import {
  type CopiedState,
  copyStates,
  insertFiles,
  insertVersions,
  type StateKey,
} from "./write-version.ts"

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
    create: (branch, assert, at) =>
      writeOnce(db, () => createBranch(db.dialect, branch, schedules, assert, at), {
        inTurnOf: branch.valId,
      }),
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

/** The lock of the val is that of all its branches. */
function* createBranch(
  dialect: Dialect,
  branch: NewBranch,
  schedules: ScheduleLimits,
  assert: AssertVal,
  at: number,
): Script<BranchOfVal | undefined> {
  const { id, valId, name, sourceId } = branch
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
  yield sql`insert into branches (id, val_id, name, name_key, version, version_last, entry_type, forked_from_id, forked_from_version, created_at, updated_at, file_count, bytes)
    values (${id}, ${valId}, ${name}, ${name.toLowerCase()}, 0, 0, ${entry?.type ?? null}, ${source.id}, ${source.version}, ${at}, ${at},
      ${files.filter(({ type }) => type !== "directory").length}, ${files.reduce((sum, { same }) => sum + same.bytes, 0)})`
  yield sql`update vals set branch_count = ${names.length + 1} where id = ${valId}`
  yield* insertFiles(id, files)
  const readmeSince = files.some(({ path }) => path === readmePath) ? 0 : undefined
  const first = { version: 0, createdAt: at, entry, readmeSince, changed: [], packages: undefined }
  yield* insertVersions(dialect, { ...val, id }, [first], at)
  yield* copyStates(dialect, { from: source.id, to: id }, files)
  yield* copySchedules(dialect, val, intervals, schedules)
  const from = { branchId: source.id, version: source.version }
  yield takeOverLockfile(dialect, from, { branchId: id, version: 0 }, at)
  const created = yield* findBranch(dialect, valId, id)
  return created && { val, branch: created }
}

/** The copies of the newest files of a branch. Their ids are new; the entry file has the branch's. */
function* planCopy(
  source: Branch,
  branchId: string,
): Script<{
  readonly files: readonly (CopiedState & { readonly originId: string })[]
  readonly entry: (StateKey & { readonly type: FileType }) | undefined
  readonly intervals: readonly CopiedFile[]
}> {
  const { files } = createTree(yield* readPaths(source.id, source.version))
  const copies = files.map(({ path, since, fileId, type, updatedAt, bytes }) => ({
    ...{ path, since: 0, type, createdAt: updatedAt, same: { path, since, bytes } },
    ...{ fileId: fileId === source.id ? branchId : Bun.randomUUIDv7(), originId: fileId },
  }))
  const intervals = copies.flatMap(({ fileId: to, type }, index) => {
    const from = files[index]?.fileId
    return type === "interval" && from !== undefined ? [{ from, to }] : []
  })
  const entryAt = files.findIndex(({ fileId }) => fileId === source.entryFileId)
  return { files: copies, entry: copies[entryAt], intervals }
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
