import {
  type Dialect,
  inBatches,
  join,
  type Script,
  type Statement,
  sql,
  type TableColumns,
} from "@hamlet/database"
import type { FileType } from "../../domain/files/tree.ts"
import type { Resolution } from "../../domain/modules/lockfiles.ts"
import type { SettledResolution, ValImport } from "../../domain/vals/val-source.ts"
import type { Val } from "../../domain/vals/vals.ts"
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
  /** Its text, or that of another state with what it imports; undefined if it has none. */
  readonly text: FileText | KeptText | undefined
  /** When it became what it is, if that was before the version. */
  readonly createdAt?: number
}

/** A text, and what it imports. */
interface FileText {
  readonly content: string
  readonly imports: readonly ValImport[]
}

/** The text of a state that exists, and what it imports. */
interface KeptText {
  readonly same: KeptState
}

/** A state of a branch. */
type StateKey = Pick<FileState, "path" | "since">

/** A state whose text stays, and the size of that text. */
interface KeptState extends StateKey {
  readonly bytes: number
}

/** A file with the text of one that exists. */
export interface CopiedFile extends ChangedFile {
  readonly type: FileType
  readonly text: KeptText
}

/** The packages of a version: to be fetched, copied, those of another version, or none. */
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
type WrittenBranch = Pick<Val, "id" | "ownerId" | "ownerName">

/** The next version of a branch. */
export interface NextVersion extends NewVersion {
  /** Versions of an imported history that come before it, oldest first. */
  readonly earlier?: readonly NewVersion[]
  /** The branch whose texts and packages it takes over; its own if undefined. */
  readonly copyOf?: string | undefined
  /** When the branch was changed, if that was after the version. */
  readonly updatedAt?: number
  /** The type of its entry file. */
  readonly entryType: FileType | null
  /** The files that begin to exist in it, or in an earlier one. */
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

/** A branch that does not exist yet. */
interface NewBranch {
  readonly id: string
  readonly valId: string
  readonly name: string
  readonly createdAt: number
  /** The branch and the version that it is a copy of. */
  readonly parent?: { readonly id: string; readonly version: number }
}

/** Inserts a branch. It has no version until `writeVersion` writes one. */
export function insertBranch({ id, valId, name, createdAt, parent }: NewBranch): Statement {
  return sql`insert into branches (id, val_id, name, name_key, version, version_last, forked_from_id, forked_from_version, created_at, updated_at)
    values (${id}, ${valId}, ${name}, ${name.toLowerCase()}, 0, 0, ${parent?.id ?? null}, ${parent?.version ?? null}, ${createdAt}, ${createdAt})`
}

/**
 * Writes the next version of a branch. Every save, new val, fork, import and new branch ends here. The row
 * of a val that exists must be locked, so that no two saves get the same number. `at` is the time of the
 * save, which an imported version is older than.
 */
export function* writeVersion(
  dialect: Dialect,
  branch: WrittenBranch,
  next: NextVersion,
  authorId: string | null,
  at: number,
): Script<void> {
  const { version, entryType, fileCount, earlier = [], copyOf = branch.id } = next
  const versions = [...earlier, next]
  const changed = versions.flatMap(({ version: since, createdAt, changed: files }) =>
    files.map((file) => ({ createdAt, ...file, since })),
  )
  yield* insertFiles(branch.id, next.added)
  yield sql`update branches set version = ${version}, version_last = ${version}, updated_at = ${next.updatedAt ?? next.createdAt},
    entry_type = ${entryType}, file_count = ${fileCount}, bytes = bytes + ${countBytes(changed)} where id = ${branch.id}`
  yield* insertVersions(branch, versions, authorId)
  yield* insertStates(branch, changed)
  yield* copyStates(dialect, { from: copyOf, to: branch.id }, changed)
  for (const one of versions) yield* insertPackages(dialect, branch, copyOf, one, at)
  yield* deleteSchedules(next.ended)
}

function* insertFiles(branchId: string, files: readonly AddedFile[]): Script<void> {
  for (const some of inBatches(files)) {
    const values = some.map(
      ({ path, fileId, originId }) => sql`(${fileId}, ${branchId}, ${path}, ${originId ?? null})`,
    )
    // A file that was deleted may be restored.
    yield sql`insert into files (id, branch_id, path, origin_id) values ${join(values, ", ")}
      on conflict (id) do update set path = excluded.path`
  }
}

/** How many bytes of text the states of some files take. */
function countBytes(changed: readonly Pick<ChangedFile, "text">[]): number {
  return changed.reduce((sum, { text }) => {
    if (!text) return sum
    return sum + ("same" in text ? text.same.bytes : Buffer.byteLength(text.content))
  }, 0)
}

function* insertVersions(
  branch: WrittenBranch,
  versions: readonly NewVersion[],
  authorId: string | null,
): Script<void> {
  for (const some of inBatches(versions)) {
    const values = some.map(
      ({ version, createdAt, note, entry, readmeSince }) =>
        sql`(${branch.id}, ${version}, ${createdAt}, ${authorId}, ${note ?? null}, ${entry?.path ?? null}, ${entry?.since ?? null}, ${readmeSince ?? null})`,
    )
    yield sql`insert into versions (branch_id, version, created_at, author_id, note, entry_path, entry_since, readme_since) values ${join(values, ", ")}`
  }
}

/** A state that does not exist yet. */
interface NewState extends ChangedFile {
  readonly since: number
  readonly createdAt: number
}

/** Inserts the states with texts of their own or without any, and what the texts import. */
function* insertStates(branch: WrittenBranch, states: readonly NewState[]): Script<void> {
  const own = states.flatMap(({ text, ...state }) =>
    text && "same" in text ? [] : [{ ...state, content: text?.content, imports: text?.imports }],
  )
  for (const some of inBatches(own)) {
    const values = some.map(
      ({ path, since, fileId, type, createdAt, content }) =>
        sql`(${branch.id}, ${path}, ${since}, ${fileId}, ${type}, ${createdAt}, ${content ?? null})`,
    )
    yield sql`insert into states (branch_id, path, since, file_id, type, created_at, content) values ${join(values, ", ")}`
  }
  yield* insertImports(
    branch,
    own.map(({ path, since, imports = [] }) => ({ path, since, imports })),
  )
}

const copyColumns: TableColumns = {
  new_path: "text",
  new_since: "integer",
  new_file_id: "id",
  new_type: "text",
  new_created_at: "time",
  old_path: "text",
  old_since: "integer",
}

/**
 * Inserts the states with texts that other states have, and with what these import. SQLite keeps the
 * order of cross joins: it would read the whole table of copies once for each state otherwise.
 */
function* copyStates(
  dialect: Dialect,
  branch: { readonly from: string; readonly to: string },
  states: readonly NewState[],
): Script<void> {
  const copies = states.flatMap(({ text, ...state }) =>
    text && "same" in text ? [{ ...state, same: text.same }] : [],
  )
  if (copies.length === 0) return
  const table = dialect.tableOf(
    copies.map(({ same, ...copy }) => ({
      new_path: copy.path,
      new_since: copy.since,
      new_file_id: copy.fileId,
      new_type: copy.type,
      new_created_at: copy.createdAt,
      old_path: same.path,
      old_since: same.since,
    })),
    copyColumns,
  )
  yield sql`insert into states (branch_id, path, since, file_id, type, created_at, content)
    select b.id, new_path, new_since, new_file_id, new_type, new_created_at, s.content
    from ${table} cross join branches b cross join states s
    where b.id = ${branch.to} and s.branch_id = ${branch.from} and s.path = old_path and s.since = old_since`
  yield copyImports(table, branch)
}

function* insertPackages(
  dialect: Dialect,
  { id, ownerId }: WrittenBranch,
  copyOf: string,
  { version, packages }: NewVersion,
  at: number,
): Script<void> {
  if (packages === undefined) return
  if (packages === "fetch") yield insertLockfile(dialect, id, version, ownerId, at)
  else if ("of" in packages) {
    const from = { branchId: copyOf, version: packages.of }
    yield takeOverLockfile(dialect, from, { branchId: id, version }, at)
  } else if ("carried" in packages) yield insertReady(id, version, ownerId, packages.carried, at)
  else yield* copyLockfile(dialect, id, version, ownerId, packages, at)
}
