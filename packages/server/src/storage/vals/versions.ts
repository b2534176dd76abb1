import {
  afterCursor,
  asIs,
  type Database,
  type Dialect,
  firstRow,
  join,
  type LongTexts,
  limitTo,
  nothing,
  raw,
  readLongTexts,
  rows,
  type Script,
  sql,
} from "@hamlet/database"
import { type Cause, findCause } from "../../domain/call-depth.ts"
import { settleAddresses } from "../../domain/files/addresses.ts"
import { createTree, type TreeFile } from "../../domain/files/tree.ts"
import type { AssertVal, Val } from "../../domain/vals/vals.ts"
import type { Version, VersionDeletion, VersionStore } from "../../domain/vals/versions.ts"
import { emitReferenced, emitSaved } from "../events/val-events.ts"
import { readPaths, selectImports } from "../files/branch-rows.ts"
import { authorColumns, withAuthor } from "../files/history.ts"
import { relinkOutgoing } from "../references/links.ts"
import { type LinkLocks, LinksMoved, type NameKey, writeLinks } from "../references/row-locks.ts"
import { deleteSchedules } from "../schedules/file-schedules.ts"
import { toSearchedFiles, writeFileTexts } from "../search/file-texts.ts"
import { writeAddresses, writeSearchText } from "./changes/change-val.ts"
import { isJoinedId, listedCode, valColumns, withCode, withVersions } from "./val-rows.ts"
import { lockVal } from "./vals.ts"

interface ImportRow extends NameKey {
  readonly version: number
}

/** A version in a list: the code is null where it is long. */
type ListedVersion = Omit<Version, "code"> & { readonly code: string | null }

/** Versions in the database. */
export function createVersionStore(db: Database): VersionStore {
  return {
    find: (valId, version) => db.first<Val>`
      select ${valColumns} from vals v ${withVersions} where ${isJoinedId(db.dialect, "v.id", valId)} and n.version = ${version}`,
    async list(valId, page) {
      const found = await db.read<ListedVersion>`
        select n.branch_id as val_id, n.version, ${listedCode}, n.created_at, n.note, n.run_started_at, n.run_ended_at, ${authorColumns} from versions n ${withAuthor}
        where n.branch_id = ${valId} ${afterCursor(page, "n.version", ["integer"])} order by n.version desc ${limitTo(page)}`
      const texts: LongTexts<ListedVersion, Version> = {
        isShort: ({ code }) => code === null,
        async complete(row) {
          const text = await db.first<Pick<Version, "code">>`
            select coalesce(c.content, '') as code from versions n ${withCode} where n.branch_id = ${valId} and n.version = ${row.version}`
          return { ...row, code: text?.code ?? "" }
        },
        countChars: ({ code }) => code.length,
      }
      return readLongTexts(found, page, texts, asIs<Version>, (row) => [row.version])
    },
    delete(valId, version, assert, at) {
      const cause = findCause()
      return writeLinks(db, valId, () =>
        deleteVersion(db.dialect, valId, version, assert, at, cause),
      )
    },
  }
}

function* deleteVersion(
  dialect: Dialect,
  valId: string,
  version: number,
  assert: AssertVal,
  at: number,
  cause: Cause,
): Script<VersionDeletion> {
  // If it is the current version, the one before it becomes current, and its imports are resolved.
  const newest = yield* rows<{ version: number }>`
    select version from versions where branch_id = ${valId} order by version desc limit 2`
  const imported = yield* listImports(
    valId,
    newest.map((row) => row.version),
  )
  const locked = yield* lockVal(dialect, {
    valId,
    imports: imported,
    pinsOf: newest.map((row) => row.version),
    isRecounted: true,
  })
  if (!locked) return "no_val"
  const { val, locks } = locked
  assert(val)
  const found = yield* firstRow`
    select version from versions where branch_id = ${valId} and version = ${version}`
  if (!found) return "no_version"
  const highest = yield* firstRow<Val>`
    select ${valColumns} from vals v ${withVersions} where v.id = ${valId} and n.version <> ${version} order by n.version desc limit 1`
  if (!highest) return "last_version"
  if (version === val.version) {
    const isLocked = (next: ImportRow) => imported.some((one) => one.version === next.version)
    if (!(yield* listImports(valId, [highest.version])).every(isLocked)) throw new LinksMoved()
    yield* makeCurrent(dialect, locks, val, { ...highest, updatedAt: at }, at, cause)
  }
  yield* deleteStates(valId, version)
  yield sql`delete from versions where branch_id = ${valId} and version = ${version}`
  if (version === val.version) yield* moveFilesBack(valId, highest.version)
  return "deleted"
}

/** Deletes the states that no version but this one shows. */
function* deleteStates(branchId: string, version: number): Script<void> {
  const neighbours = yield* firstRow<{ before: number | null; after: number | null }>`
    select (select version from versions where branch_id = ${branchId} and version < ${version} order by version desc limit 1) as before,
      (select version from versions where branch_id = ${branchId} and version > ${version} order by version limit 1) as after`
  const isReplaced =
    neighbours?.after == null
      ? nothing
      : sql`and exists (select 1 from states s where s.branch_id = states.branch_id and s.path = states.path
          and s.since > states.since and s.since <= ${neighbours.after})`
  const deleted = yield* rows<{ bytes: number | null }>`
    delete from states where branch_id = ${branchId} and since > ${neighbours?.before ?? -1} and since <= ${version} ${isReplaced} returning octet_length(content) as bytes`
  const bytes = deleted.reduce((sum, row) => sum + (row.bytes ?? 0), 0)
  if (bytes > 0) yield sql`update branches set bytes = bytes - ${bytes} where id = ${branchId}`
}

/**
 * Files that the deleted version had moved are where they were before. Those that it had added have no
 * schedules any more.
 */
function* moveFilesBack(branchId: string, version: number): Script<void> {
  const found = yield* rows<{ id: string; path: string }>`
    select id, path from files where branch_id = ${branchId}`
  const paths = new Map(found.map(({ id, path }) => [id, path]))
  const gone = new Set(paths.keys())
  for (const { fileId, path, type } of yield* readPaths(branchId, version)) {
    if (type === null) continue
    gone.delete(fileId)
    if (paths.get(fileId) !== path) yield sql`update files set path = ${path} where id = ${fileId}`
  }
  yield* deleteSchedules([...gone])
}

/** The imports of some versions of the val. */
function* listImports(valId: string, versions: readonly number[]): Script<readonly ImportRow[]> {
  if (versions.length === 0) return []
  const parts = versions.map((version) =>
    selectImports(
      sql`cast(${version} as ${raw("integer")}) as version, i.username_key as username, i.name_key as name`,
      valId,
      version,
    ),
  )
  return yield* rows<ImportRow>(join(parts, " union all "))
}

/** The paths that differ. */
function listChanged(before: readonly TreeFile[], after: readonly TreeFile[]): readonly string[] {
  const toKey = ({ path, since }: TreeFile) => `${since}/${path}`
  const [keysBefore, keysAfter] = [new Set(before.map(toKey)), new Set(after.map(toKey))]
  const paths = [
    ...before.filter((file) => !keysAfter.has(toKey(file))),
    ...after.filter((file) => !keysBefore.has(toKey(file))),
  ].map(({ path }) => path)
  return [...new Set(paths)]
}

function* makeCurrent(
  dialect: Dialect,
  locks: LinkLocks,
  before: Val,
  val: Val,
  at: number,
  cause: Cause,
): Script<void> {
  const { files: filesBefore } = createTree(yield* readPaths(val.id, before.version))
  const { files } = createTree(yield* readPaths(val.id, val.version))
  const fileCount = files.filter(({ type }) => type !== "directory").length
  const toTree = ({ file, type }: Val, all: readonly TreeFile[]) => ({
    files: all,
    entry: { fileId: file.id, type },
  })
  const settled = settleAddresses(before, toTree(before, filesBefore), toTree(val, files))
  yield* writeAddresses(before, settled)
  yield sql`update vals set updated_at = ${at} where id = ${val.id}`
  yield sql`update branches set version = ${val.version}, updated_at = ${at}, entry_type = ${val.type}, file_count = ${fileCount} where id = ${val.id}`
  const targets = yield* relinkOutgoing(
    locks,
    { id: val.id, ownerId: val.ownerId, version: val.version, isPublic: val.privacy === "public" },
    at,
  )
  yield writeSearchText(dialect, val)
  const texts = writeFileTexts(
    dialect,
    val.id,
    toSearchedFiles(filesBefore, before.file.path),
    toSearchedFiles(files, val.file.path),
  )
  if (texts) yield texts
  const paths = listChanged(filesBefore, files)
  yield* emitSaved(dialect, val, { change: "version", paths }, cause.depth)
  yield* emitReferenced(dialect, val, targets, cause.depth)
}
