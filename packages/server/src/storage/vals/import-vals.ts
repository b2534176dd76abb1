import { toValNameKey } from "@hamlet/contract"
import {
  type Database,
  type Dialect,
  firstRow,
  inBatches,
  join,
  list,
  nothing,
  rows,
  type Script,
  type Statement,
  sql,
} from "@hamlet/database"
import { type Cause, findCause } from "../../domain/call-depth.ts"
import { entryPath } from "../../domain/modules/module-url.ts"
import type { ExistingVal, ImportPlan } from "../../domain/vals/import-plan.ts"
import type {
  ImportedComment,
  ImportedVal,
  ImportedValStore,
  ValToImport,
} from "../../domain/vals/import-vals.ts"
import type { ImportedVersion } from "../../domain/vals/imported-history.ts"
import type { Val } from "../../domain/vals/vals.ts"
import type { MainBranch } from "../files/branch-rows.ts"
import { writeVersion } from "../files/write-version.ts"
import { LinksMoved, toTurn, writeLinks } from "../references/row-locks.ts"
import { assertFree, changeVal, type LockedVal } from "./changes/change-val.ts"
import { insertVal, toVersion } from "./insert-val.ts"
import { valColumns, withCode, withCurrentVersion } from "./val-rows.ts"
import { lockVal } from "./vals.ts"

type Plan = (existing: ExistingVal | undefined) => ImportPlan

const limits = {
  /**
   * Where transactions run one at a time, writes that arrive together share one transaction and one
   * wait for the disk.
   */
  atOnceAloneMax: 200,
  /** Elsewhere each import uses one of the connections that all requests share. */
  atOnceMax: 4,
}

/** Imports vals into the database. */
export function createImportedValStore(db: Database): ImportedValStore {
  return {
    atOnceMax: db.dialect.forUpdate === nothing ? limits.atOnceAloneMax : limits.atOnceMax,
    async find(val) {
      const row = await db.first<ExistingRow>(selectExisting(val))
      if (!row) return undefined
      const known = new Set<number>()
      for (const statement of selectKnown(row.id, val))
        for (const { version } of await db.read<KnownRow>(statement)) known.add(version)
      return toExisting(row, known)
    },
    write(val, plan, at) {
      const cause = findCause()
      return writeLinks(db, toTurn(val), () => importVal(db.dialect, val, plan, at, cause))
    },
  }
}

interface ExistingRow extends Val {
  readonly versionLast: number
}

interface KnownRow {
  readonly version: number
}

function* importVal(
  dialect: Dialect,
  val: ValToImport,
  plan: Plan,
  at: number,
  cause: Cause,
): Script<ImportedVal> {
  const existing = yield* findExisting(val)
  const planned = plan(existing)
  if (!existing) return yield* create(dialect, val, planned, at, cause)
  // Most vals that exist already do not change, and need no lock.
  if (planned.kind !== "change")
    return { plan: planned, id: existing.val.id, version: existing.val.version }
  const isRecounted = planned.settings.privacy !== undefined
  const imports = planned.versions.length > 0 ? val.history.last.source.imports : undefined
  const locked = yield* lockVal(dialect, { valId: existing.val.id, imports, isRecounted })
  // Another transaction may have changed the val before we got the lock. Then we need other locks,
  // or none.
  if (
    locked?.val.updatedAt !== existing.val.updatedAt ||
    locked.main.versionLast !== existing.versionLast
  )
    throw new LinksMoved()
  const { versions, settings } = planned
  const last = versions.at(-1)
  if (!last) return toOne(planned, (yield* changeVal(dialect, locked, settings, at, cause)).val)
  const written = yield* writeEarlier(dialect, locked, versions.slice(0, -1), cause.actorId, at)
  // Makes `changeVal` add the last version with its own number, even if its code equals the current
  // code.
  const main = { ...written, versionLast: last.version - 1 }
  const before = { ...locked, main, val: { ...locked.val, code: "" } }
  const change = { ...settings, source: last.source }
  return toOne(planned, (yield* changeVal(dialect, before, change, last.createdAt, cause)).val)
}

/** Writes all versions but the last. Returns the branch with the file that their code is in. */
function* writeEarlier(
  dialect: Dialect,
  { val, main }: LockedVal,
  versions: readonly ImportedVersion[],
  authorId: string | null,
  at: number,
): Script<MainBranch> {
  const newest = versions.at(-1)
  if (!newest) return main
  const entry = main.entry ?? createEntry(newest.version)
  const added = main.entry ? [] : [entry]
  if (added.length > 0) yield* assertFree(val, added)
  const fileCount = main.fileCount + added.length
  const toWritten = (version: ImportedVersion) => toVersion(version, entry, main.readme?.since)
  const next = {
    ...toWritten(newest),
    earlier: versions.slice(0, -1).map(toWritten),
    entryType: entry.type,
    added,
    ended: [],
    fileCount,
  }
  yield* writeVersion(dialect, val, next, authorId, at)
  return { ...main, entry, fileCount }
}

/** The file for the code of a val that has none. */
function createEntry(since: number): NonNullable<MainBranch["entry"]> {
  return { path: entryPath, fileId: Bun.randomUUIDv7(), since, type: "script" }
}

function toOne(
  plan: ImportPlan,
  { id, version }: { readonly id: string; readonly version: number },
): ImportedVal {
  return { plan, id, version }
}

function* create(
  dialect: Dialect,
  val: ValToImport,
  plan: ImportPlan,
  at: number,
  cause: Cause,
): Script<ImportedVal> {
  const isNew = yield* insertVal(dialect, val, val.history, at, cause)
  // Another transaction has created a val with this name. The next attempt finds it.
  if (!isNew) throw new LinksMoved()
  yield* insertComments(val, val.comments)
  return { plan, id: val.id, version: val.history.last.version }
}

function* insertComments(val: ValToImport, comments: readonly ImportedComment[]): Script<void> {
  for (const some of inBatches(comments)) {
    const values = some.map(
      (one) =>
        sql`(${one.id}, ${val.id}, ${val.ownerId}, ${one.authorId}, ${one.comment}, ${one.createdAt})`,
    )
    yield sql`insert into comments (id, val_id, val_owner_id, author_id, comment, created_at) values ${join(values, ", ")}`
  }
}

function* findExisting(val: ValToImport): Script<ExistingVal | undefined> {
  const row = yield* firstRow<ExistingRow>(selectExisting(val))
  if (!row) return undefined
  const known = new Set<number>()
  for (const statement of selectKnown(row.id, val))
    for (const { version } of yield* rows<KnownRow>(statement)) known.add(version)
  return toExisting(row, known)
}

function selectExisting({ ownerId, name }: ValToImport): Statement {
  return sql`select ${valColumns}, b.version_last from vals v ${withCurrentVersion}
    where v.owner_id = ${ownerId} and v.name_key = ${toValNameKey(name)}`
}

/** The database compares the code: a long history would be much to read. */
function* selectKnown(valId: string, { history }: ValToImport): Generator<Statement> {
  if (!history.isNumbered) return
  for (const some of inBatches<ImportedVersion>(history.versions)) {
    const same = some.map(
      ({ version, source }) => sql`(n.version = ${version} and c.content = ${source.code})`,
    )
    const numbers = list(some.map(({ version }) => version))
    yield sql`select n.version from versions n ${withCode} where n.branch_id = ${valId} and n.version in (${numbers}) and (${join(same, " or ")})`
  }
}

function toExisting(val: ExistingRow, known: ReadonlySet<number>): ExistingVal {
  return { val, versionLast: val.versionLast, known }
}
