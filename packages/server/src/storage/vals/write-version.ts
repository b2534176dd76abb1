import type { SettledResolution, ValImport } from "../../domain/vals/val-source.ts"
import type { Val } from "../../domain/vals/vals.ts"
import { inBatches } from "../database/batch-sizes.ts"
import type { Script } from "../database/database.ts"
import type { Dialect } from "../database/dialect.ts"
import { join, sql } from "../database/sql.ts"
import { copyLockfile, insertLockfile, takeOverLockfile } from "../modules/lockfiles.ts"
import { copyImports, insertImports } from "../references/links.ts"
import type { FileState, FileType } from "./branch-rows.ts"

/** A file from this version on. Without a type, its path ends. */
export interface ChangedFile extends Pick<FileState, "path" | "fileId"> {
  readonly type: FileType | null
  readonly content: string | null
  /** What the content imports; `same` for the content of an earlier state. */
  readonly imports: readonly ValImport[] | { readonly same: FileState }
}

/** The packages of a version: to be fetched, copied, those of an earlier version, or none. */
export type VersionPackages = "fetch" | SettledResolution | { readonly of: number } | undefined

/** A version of a branch that does not exist yet. */
export interface NewVersion {
  readonly version: number
  readonly createdAt: number
  readonly entry: Pick<FileState, "path" | "since"> | undefined
  readonly readmeSince: number | undefined
  readonly changed: readonly ChangedFile[]
  readonly packages: VersionPackages
}

/** The branch that gets versions, with the val that it belongs to. */
export type WrittenBranch = Pick<Val, "id" | "ownerId" | "ownerName">

/** Inserts files that do not exist yet. */
export function* insertFiles(
  branchId: string,
  files: readonly Pick<FileState, "path" | "fileId">[],
): Script<void> {
  for (const some of inBatches(files)) {
    const values = some.map(({ path, fileId }) => sql`(${fileId}, ${branchId}, ${path})`)
    yield sql`insert into files (id, branch_id, path) values ${join(values, ", ")}`
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
      ({ version, createdAt, entry, readmeSince }) =>
        sql`(${id}, ${version}, ${createdAt}, ${branch.ownerId}, ${entry?.path ?? null}, ${entry?.since ?? null}, ${readmeSince ?? null})`,
    )
    yield sql`insert into versions (branch_id, version, created_at, author_id, entry_path, entry_since, readme_since) values ${join(values, ", ")}`
  }
  const changed = versions.flatMap((version) => version.changed.map((file) => ({ version, file })))
  for (const some of inBatches(changed)) {
    const values = some.map(
      ({ version: { version, createdAt }, file: { path, fileId, type, content } }) =>
        sql`(${id}, ${path}, ${version}, ${fileId}, ${type}, ${createdAt}, ${content})`,
    )
    yield sql`insert into states (branch_id, path, since, file_id, type, created_at, content) values ${join(values, ", ")}`
  }
  for (const { version, file } of changed) {
    const state = { path: file.path, since: version.version, fileId: file.fileId }
    if ("same" in file.imports) yield copyImports(id, file.imports.same, state)
    else yield* insertImports(branch, state, file.imports)
  }
  for (const { version, packages } of versions) {
    if (packages === undefined) continue
    if (packages === "fetch") yield insertLockfile(dialect, id, version, branch.ownerId, at)
    else if ("of" in packages) yield takeOverLockfile(dialect, id, packages.of, version, at)
    else yield* copyLockfile(dialect, id, version, branch.ownerId, packages, at)
  }
}
