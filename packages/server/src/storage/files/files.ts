import { findCallDepth } from "../../domain/call-depth.ts"
import type { FileSaveStore } from "../../domain/files/file-saves.ts"
import type { FileStore } from "../../domain/files/files.ts"
import type { Database } from "../database/database.ts"
import { sql } from "../database/sql.ts"
import { writeLinksOnce } from "../database/write-once.ts"
import { type PathRow, selectPaths, toPathState } from "./branch-rows.ts"
import { type BranchRow, branchColumns, toBranch, withEntryFile } from "./branches.ts"
import { saveFiles } from "./save-files.ts"

/** Files in the database. */
export function createFileStore(db: Database): FileStore & FileSaveStore {
  return {
    async listPaths(branchId, version) {
      return (await db.read<PathRow>(selectPaths(branchId, version))).map(toPathState)
    },
    async hasVersion(branchId, version) {
      const found = await db.read(
        sql`select 1 from versions where branch_id = ${branchId} and version = ${version}`,
      )
      return found.length > 0
    },
    async findText(branchId, path, since) {
      const [row] = await db.read<{ content: string | null }>(
        sql`select content from states where branch_id = ${branchId} and path = ${path} and since = ${since}`,
      )
      return row?.content ?? undefined
    },
    async findFile(fileId) {
      // `files` has the path that it was moved to last.
      const [row] = await db.read<
        BranchRow & Omit<PathRow, "created_at"> & { saved_at: number }
      >(sql`
        select ${branchColumns}, s.path, s.since, s.file_id, s.type, s.created_at as saved_at, coalesce(octet_length(s.content), 0) as bytes
        from files f join branches b on b.id = f.branch_id ${withEntryFile}
        join states s on s.branch_id = b.id and s.path = f.path
        where f.id = ${fileId} and s.file_id = f.id and s.since <= b.version order by s.since desc limit 1`)
      if (!row || row.type === null) return undefined
      const file = { ...toPathState({ ...row, created_at: row.saved_at }), type: row.type }
      return { branch: toBranch(row), file }
    },
    save(save, at) {
      const depth = findCallDepth()
      return writeLinksOnce(db, () => saveFiles(db.dialect, save, at, depth))
    },
  }
}
