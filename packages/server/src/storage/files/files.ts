import type { Database } from "@hamlet/database"
import { RecentMap } from "@hamlet/kit"
import { findCause } from "../../domain/call-depth.ts"
import type { HistoryStore } from "../../domain/files/file-history.ts"
import type { FileSaveStore } from "../../domain/files/file-saves.ts"
import type { FileStore } from "../../domain/files/files.ts"
import type { FileType, PathState } from "../../domain/files/tree.ts"
import type { ScheduleLimits } from "../../domain/schedules/schedules.ts"
import { writeLinksOnce } from "../accounts/write-once.ts"
import { type PathRow, selectPaths, toPathStates } from "./branch-rows.ts"
import { type BranchRow, branchColumns, withEntryFile } from "./branches.ts"
import { listChanges, writeNote } from "./history.ts"
import { type BaseRow, type OriginRow, selectBase, selectOrigins, toOrigins } from "./merges.ts"
import { saveFiles } from "./save-files.ts"

interface ContentRow {
  readonly type: FileType | null
  readonly createdAt: number
  readonly content: string | null
}

interface FileRow extends BranchRow {
  readonly path: string
  readonly since: number
  readonly fileId: string
  readonly type: FileType
  readonly savedAt: number
  readonly bytes: number
}

const limits = {
  cachedPathsMax: 50_000,
  /** The latest runs of a val, whose files are found also when they were deleted. */
  runsMax: 1_000,
}

/** Files in the database; those of type `interval` get schedules within the limits. */
export function createFileStore(
  db: Database,
  schedules: ScheduleLimits,
): FileStore & FileSaveStore & HistoryStore {
  return {
    listChanges: (branchId, path, page) => listChanges(db, branchId, path, page),
    setNote: (valId, branchId, version, note) =>
      db.write(() => writeNote(valId, branchId, version, note), { inTurnOf: valId }),
    listPaths: createListPaths(db),
    async hasVersion(branchId, version) {
      const found = await db.read`
        select 1 from versions where branch_id = ${branchId} and version = ${version}`
      return found.length > 0
    },
    async findContent(branchId, path, version) {
      const row = await db.first<ContentRow>`
        select type, created_at, content from states where branch_id = ${branchId} and path = ${path} and since <= ${version}
        order by since desc limit 1`
      if (!row || row.type === null) return undefined
      return { type: row.type, updatedAt: row.createdAt, text: row.content ?? "" }
    },
    async findFile(fileId) {
      // `files` has the path that it was moved to last; another file may be there now.
      const row = await db.first<FileRow>`
        select ${branchColumns}, s.path, s.since, s.file_id, s.type, s.created_at as saved_at, coalesce(octet_length(s.content), 0) as bytes
        from files f join branches b on b.id = f.branch_id ${withEntryFile}
        join states s on s.branch_id = b.id and s.path = f.path and s.since =
          (select l.since from states l where l.branch_id = b.id and l.path = f.path and l.since <= b.version
            and l.file_id = f.id and l.type is not null order by l.since desc limit 1)
        where f.id = ${fileId} and (
          not exists (select 1 from states l where l.branch_id = b.id and l.path = f.path and l.since > s.since and l.since <= b.version)
          or exists (select 1 from (select r.file_id from runs r where r.val_id = b.val_id
            order by r.started_at desc, r.id desc limit ${limits.runsMax}) r where coalesce(r.file_id, b.val_id) = f.id))`
      if (!row) return undefined
      const { path, since, type, savedAt: updatedAt, bytes, ...branch } = row
      return { branch, file: { path, since, fileId, type, updatedAt, bytes } }
    },
    async findBase(branchId) {
      const row = await db.first<BaseRow>(selectBase(branchId))
      if (!row) return undefined
      const linked = await db.read<OriginRow>(selectOrigins(branchId))
      const { version } = row
      return {
        branchId: row.branchId,
        version: version ?? undefined,
        origins: toOrigins(linked),
      }
    },
    save(save, at) {
      const cause = findCause()
      return writeLinksOnce(db, save.valId, () => saveFiles(db.dialect, save, schedules, at, cause))
    },
  }
}

/**
 * The paths of a version never change, and its number is never used again: a cached list is exact.
 * Clients read the files of one version page by page.
 */
function createListPaths(db: Database): FileStore["listPaths"] {
  const sizeOf = (paths: readonly PathState[]) => paths.length + 1
  const lists = new RecentMap<string, readonly PathState[]>(limits.cachedPathsMax, { sizeOf })
  return async (branchId, version) => {
    const key = `${branchId} ${version}`
    const known = lists.get(key)
    if (known) return known
    const found = toPathStates(await db.read<PathRow>(selectPaths(branchId, version)))
    lists.set(key, found)
    return found
  }
}
