import type { FileType } from "../../domain/files/tree.ts"
import type { Resolution } from "../../domain/modules/lockfiles.ts"
import type { SettledResolution, ValImport } from "../../domain/vals/val-source.ts"
import type { Val } from "../../domain/vals/vals.ts"
import { inBatches } from "../database/batch-sizes.ts"
import type { Script } from "../database/database.ts"
import type { Dialect, TableColumns } from "../database/dialect.ts"
import { join, sql } from "../database/sql.ts"
import {
  copyLockfile,
  insertLockfile,
  insertReady,
  takeOverLockfile,
} from "../modules/lockfiles.ts"
import { copyImports, insertImports } from "../references/links.ts"
import { deleteSchedules } from "../schedules/file-schedules.ts"
import type { FileState } from "./branch-rows.ts"

/** A file from this version on. Without a type, its path ends. */
export interface ChangedFile extends Pick<FileState, "path" | "fileId"> {
  readonly type: FileType | null
  /** Its text, or that of an earlier state with what it imports; undefined if it has none. */
  readonly text: FileText | { readonly same: KeptState } | undefined
}

/** A text, and what it imports. */
export interface FileText {
  readonly content: string
  readonly imports: readonly ValImport[]
}

/** A state of a branch. */
export type StateKey = Pick<FileState, "path" | "since">

/** A state whose text stays, and the size of that text. */
export interface KeptState extends StateKey {
  readonly bytes: number
}

/** The packages of a version: to be fetched, copied, those of an earlier version, or none. */
export type VersionPackages =
  | "fetch"
  | SettledResolution
  | { readonly carried: Resolution }
  | { readonly of: number }
  | undefined

/** A version of a branch that does not exist yet. */
export interface NewVersion {
  readonly version: number
  readonly createdAt: number
  readonly note?: string | undefined
  readonly entry: StateKey | undefined
  readonly readmeSince: number | undefined
  readonly changed: readonly ChangedFile[]
  readonly packages: VersionPackages
}

/** The branch that gets versions, with the val that it belongs to. */
export type WrittenBranch = Pick<Val, "id" | "ownerId" | "ownerName">

/** The next version of a branch. */
export interface NextVersion extends NewVersion {
  /** The type of its entry file. */
  readonly entryType: FileType | null
  /** The files that begin to exist in it. */
  readonly added: readonly AddedFile[]
  /** The ids of the files that stop to exist in it. */
  readonly ended: readonly string[]
  /** How many files it has, without directories. */
  readonly fileCount: number
}

/** A file that does not exist yet. */
interface AddedFile extends Pick<FileState, "path" | "fileId"> {
  /** The file of the parent branch that it is a copy of. */
  readonly originId?: string
}

/** How many bytes of text the states of some files take. */
export function countBytes(changed: readonly Pick<ChangedFile, "text">[]): number {
  return changed.reduce((sum, { text }) => {
    if (!text) return sum
    return sum + ("same" in text ? text.same.bytes : Buffer.byteLength(text.content))
  }, 0)
}

/**
 * Writes the next version of a branch. Every save of a val that exists ends here, through `/v1` or
 * `/v2`. The row of the val must be locked, so that no two saves get the same number.
 */
export function* writeVersion(
  dialect: Dialect,
  branch: WrittenBranch,
  next: NextVersion,
): Script<void> {
  const { version, createdAt: at } = next
  yield* insertFiles(branch.id, next.added)
  yield sql`update branches set version = ${version}, version_last = ${version}, updated_at = ${at},
    entry_type = ${next.entryType}, file_count = ${next.fileCount}, bytes = bytes + ${countBytes(next.changed)} where id = ${branch.id}`
  yield* insertVersions(dialect, branch, [next], at)
  yield* deleteSchedules(next.ended)
}

/** Inserts files that do not exist yet. */
export function* insertFiles(branchId: string, files: readonly AddedFile[]): Script<void> {
  for (const some of inBatches(files)) {
    const values = some.map(
      ({ path, fileId, originId }) => sql`(${fileId}, ${branchId}, ${path}, ${originId ?? null})`,
    )
    // A file that was deleted may be restored.
    yield sql`insert into files (id, branch_id, path, origin_id) values ${join(values, ", ")}
      on conflict (id) do update set path = excluded.path`
  }
}

/** Inserts versions of a branch, with the files that change in them, in ascending order. */
export function* insertVersions(
  dialect: Dialect,
  branch: WrittenBranch,
  versions: readonly NewVersion[],
  at: number,
): Script<void> {
  const { id } = branch
  for (const some of inBatches(versions)) {
    const values = some.map(
      ({ version, createdAt, note, entry, readmeSince }) =>
        sql`(${id}, ${version}, ${createdAt}, ${branch.ownerId}, ${note ?? null}, ${entry?.path ?? null}, ${entry?.since ?? null}, ${readmeSince ?? null})`,
    )
    yield sql`insert into versions (branch_id, version, created_at, author_id, note, entry_path, entry_since, readme_since) values ${join(values, ", ")}`
  }
  const changed = versions.flatMap(({ version: since, createdAt, changed }) =>
    changed.map((file) => ({ ...file, since, createdAt })),
  )
  const isCopy = ({ text }: ChangedFile) => text !== undefined && "same" in text
  for (const some of inBatches(changed.filter((file) => !isCopy(file)))) {
    const values = some.map(
      ({ path, since, fileId, type, createdAt, text }) =>
        sql`(${id}, ${path}, ${since}, ${fileId}, ${type}, ${createdAt}, ${text && "content" in text ? text.content : null})`,
    )
    yield sql`insert into states (branch_id, path, since, file_id, type, created_at, content) values ${join(values, ", ")}`
  }
  yield* copyStates(
    dialect,
    { from: id, to: id },
    changed.flatMap(({ text, ...file }) => (text && "same" in text ? [{ ...file, ...text }] : [])),
  )
  const texts = changed.flatMap(({ path, since, text }) =>
    text && "content" in text ? [{ path, since, imports: text.imports }] : [],
  )
  yield* insertImports(branch, texts)
  for (const { version, packages } of versions) {
    if (packages === undefined) continue
    if (packages === "fetch") yield insertLockfile(dialect, id, version, branch.ownerId, at)
    else if ("of" in packages)
      yield takeOverLockfile(
        dialect,
        { branchId: id, version: packages.of },
        { branchId: id, version },
        at,
      )
    else if ("carried" in packages)
      yield insertReady(id, version, branch.ownerId, packages.carried, at)
    else yield* copyLockfile(dialect, id, version, branch.ownerId, packages, at)
  }
}

/** A state with the text of an earlier one. */
export interface CopiedState extends Pick<FileState, "path" | "since" | "fileId"> {
  readonly type: FileType | null
  readonly createdAt: number
  readonly same: KeptState
}

const copyColumns: TableColumns = {
  ...{ new_path: "text", new_since: "integer", new_file_id: "id", new_type: "text" },
  ...{ new_created_at: "time", old_path: "text", old_since: "integer" },
}

/**
 * Inserts states with texts that other states have, and with what these import. SQLite keeps the order
 * of cross joins: it would read the whole table of copies once for each state otherwise.
 */
export function* copyStates(
  dialect: Dialect,
  branch: { readonly from: string; readonly to: string },
  copies: readonly CopiedState[],
): Script<void> {
  if (copies.length === 0) return
  const table = dialect.tableOf(
    copies.map((copy) => ({
      ...{ new_path: copy.path, new_since: copy.since, new_file_id: copy.fileId },
      ...{ new_type: copy.type, new_created_at: copy.createdAt },
      ...{ old_path: copy.same.path, old_since: copy.same.since },
    })),
    copyColumns,
  )
  yield sql`insert into states (branch_id, path, since, file_id, type, created_at, content)
    select b.id, new_path, new_since, new_file_id, new_type, new_created_at, s.content
    from ${table} cross join branches b cross join states s
    where b.id = ${branch.to} and s.branch_id = ${branch.from} and s.path = old_path and s.since = old_since`
  yield copyImports(table, branch)
}
