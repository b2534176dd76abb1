import { readmePath } from "@hamlet/contract/entry-file"
import { type Database, type Dialect, firstRow, raw, rows, type Script } from "@hamlet/database"
import { type Cause, findCause } from "../../domain/call-depth.ts"
import { emptyTree, settleAddresses } from "../../domain/files/addresses.ts"
import { createTree } from "../../domain/files/tree.ts"
import { toBranchKey } from "../../domain/modules/import-address.ts"
import type { ScheduleLimits } from "../../domain/schedules/schedules.ts"
import type { ForkStore, NewFork } from "../../domain/vals/forks.ts"
import type { ValImport } from "../../domain/vals/val-source.ts"
import type { AddressFiles, AssertVal, Val } from "../../domain/vals/vals.ts"
import { writeLinksOnce } from "../accounts/write-once.ts"
import { readPaths, selectImports } from "../files/branch-rows.ts"
import { addNotification } from "../notifications/add-notification.ts"
import { type NameKey, toTurn } from "../references/row-locks.ts"
import { addSchedules } from "../schedules/file-schedules.ts"
import type { CopiedFiles } from "./insert-val.ts"
import { valColumns, withVersions } from "./val-rows.ts"
import { createValRow } from "./vals.ts"

interface ImportRow {
  readonly usernameKey: string
  readonly nameKey: string
  readonly branchKey: string
  readonly specifiers: readonly string[] | null
  readonly pinnedValId: string | null
  readonly pinnedVersion: number | null
  readonly pinnedAt: number
}

/** Forks in the database. `schedules` limits the schedules of new ones. */
export function createForkStore(db: Database, schedules: ScheduleLimits): ForkStore {
  return {
    async findImports(valId, version) {
      const rows = await db.read<ImportRow>`
        select i.username_key, i.name_key, i.branch_key, i.specifiers as specifiers_json, i.pinned_val_id, i.pinned_version,
          coalesce(i.pinned_at, s.created_at) as pinned_at
        from versions n join states s on s.branch_id = n.branch_id and s.path = n.entry_path and s.since = n.entry_since
        join imports i on i.branch_id = s.branch_id and i.path = s.path and i.since = s.since
        where n.branch_id = ${valId} and n.version = ${version}`
      if (rows.some(({ specifiers }) => specifiers === null)) return undefined
      return rows
        .map(toImport)
        .toSorted((left, right) => (toBranchKey(left) < toBranchKey(right) ? -1 : 1))
    },
    create(fork, assert, at) {
      const cause = findCause()
      return writeLinksOnce(db, toTurn(fork), () =>
        createFork(db.dialect, fork, schedules, assert, at, cause),
      )
    },
  }
}

function toImport(row: ImportRow): ValImport {
  const { pinnedValId: valId, pinnedVersion: version } = row
  const isPinned = valId !== null && version !== null
  return {
    username: row.usernameKey,
    name: row.nameKey,
    branch: row.branchKey === "" ? null : row.branchKey,
    version,
    specifiers: row.specifiers ?? [],
    ...(isPinned ? { pin: { valId, version, at: row.pinnedAt } } : {}),
  }
}

/** The files of the original beside its code and readme, which the fork has already. */
function* planCopy({ id: copyId, forkOf: { id, version } }: NewFork): Script<CopiedFiles> {
  const row = yield* firstRow<AddressFiles & { entryPath: string | null }>`
    select n.entry_path, v.endpoint_file_id, v.mail_file_id from versions n join vals v on v.id = n.branch_id
    where n.branch_id = ${id} and n.version = ${version}`
  const path = row?.entryPath ?? undefined
  const { files } = createTree(yield* readPaths(id, version))
  const others = files.filter((file) => file.path !== path && file.path !== readmePath)
  const imports = yield* rows<NameKey & { readonly path: string }>(
    selectImports(raw("i.path, i.username_key as username, i.name_key as name"), id, version),
  )
  const copies = others.map((file) => ({
    path: file.path,
    fileId: Bun.randomUUIDv7(),
    type: file.type,
    text: { same: file },
  }))
  const entry = files.find((file) => file.path === path)
  const ids = new Map(others.map(({ fileId }, index) => [fileId, copies[index]?.fileId]))
  if (entry) ids.set(entry.fileId, copyId)
  const toCopyId = (fileId: string | null | undefined) => (fileId && ids.get(fileId)) || null
  const own = {
    id: copyId,
    endpointFileId: toCopyId(row?.endpointFileId),
    mailFileId: toCopyId(row?.mailFileId),
  }
  const entries = entry ? [{ ...entry, fileId: copyId }] : []
  const after = { entry: entries[0], files: [...copies, ...entries] }
  return {
    branchId: id,
    entryPath: path,
    files: copies,
    imports: imports.filter((one) => one.path !== path),
    addresses: settleAddresses(own, emptyTree, after),
  }
}

function findIntervals({ type, file }: Val, { files }: CopiedFiles): readonly string[] {
  const others = files.filter((one) => one.type === "interval").map(({ fileId }) => fileId)
  return type === "interval" ? [file.id, ...others] : others
}

/** The original is checked last, when it is locked; what was written is then undone. */
function* createFork(
  dialect: Dialect,
  fork: NewFork,
  schedules: ScheduleLimits,
  assert: AssertVal<Val | undefined>,
  at: number,
  cause: Cause,
): Script<Val | undefined> {
  const copied = yield* planCopy(fork)
  const created = yield* createValRow(dialect, fork, at, cause, copied)
  const original = yield* firstRow<Val>`
    select ${valColumns} from vals v ${withVersions} where v.id = ${fork.forkOf.id} and n.version = ${fork.forkOf.version}`
  assert(original)
  if (created)
    yield* addSchedules(dialect, created, findIntervals(created, copied), schedules, "paused")
  if (created && original && fork.privacy === "public")
    yield* addNotification(dialect, {
      type: "fork",
      ownerId: original.ownerId,
      valId: original.id,
      actorId: fork.ownerId,
      key: `fork/${created.id}`,
      otherValId: created.id,
    })
  return created
}
