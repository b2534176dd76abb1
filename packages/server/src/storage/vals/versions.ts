import { findCallDepth } from "../../domain/call-depth.ts"
import type { AssertVal, Val } from "../../domain/vals/vals.ts"
import type { Version, VersionDeletion, VersionStore } from "../../domain/vals/versions.ts"
import { type Database, firstRow, rows, type Script } from "../database/database.ts"
import type { Dialect } from "../database/dialect.ts"
import { afterCursor, limitTo, toPage } from "../database/pagination.ts"
import { join, sql } from "../database/sql.ts"
import { emitReferenced, emitSaved } from "../events/val-events.ts"
import { relinkOutgoing } from "../references/links.ts"
import { type LinkLocks, LinksMoved, type NameKey, writeLinks } from "../references/row-locks.ts"
import { writeSearchText } from "./change-val.ts"
import { withTexts } from "./read-vals.ts"
import { listedCode, toTime, toVal, type ValRow, valColumns, withOrigin } from "./val-rows.ts"
import { lockVal } from "./vals.ts"

interface VersionRow {
  readonly val_id: string
  readonly version: number
  readonly code: string
  readonly created_at: number | string
  readonly run_started_at: number | string | null
  readonly run_ended_at: number | string | null
}

interface ImportRow extends NameKey {
  readonly version: number
}

/** Versions in the database. */
export function createVersionStore(db: Database): VersionStore {
  return {
    async find(valId, version) {
      const [row] = await db.read<ValRow>(sql`
        select ${valColumns} from vals v join users u on u.id = v.owner_id join versions c on c.val_id = v.id ${withOrigin}
        where v.id = ${valId} and c.version = ${version}`)
      return row && toVal(row)
    },
    async list(valId, page) {
      const found = await db.read<VersionRow>(sql`
        select val_id, version, ${listedCode}, created_at, run_started_at, run_ended_at from versions
        where val_id = ${valId} ${afterCursor(page, "version", ["integer"])} order by version desc ${limitTo(page)}`)
      const complete = await withTexts<VersionRow>(found, async ({ version }) => {
        const [text] = await db.read<Pick<VersionRow, "code">>(
          sql`select code from versions where val_id = ${valId} and version = ${version}`,
        )
        return text ?? { code: "" }
      })
      return toPage(complete, page, toVersion, (row) => [row.version])
    },
    delete(valId, version, assert, at) {
      const depth = findCallDepth()
      return writeLinks(db, () => deleteVersion(db.dialect, valId, version, assert, at, depth))
    },
  }
}

function toVersion(row: VersionRow): Version {
  return {
    valId: row.val_id,
    version: row.version,
    code: row.code,
    createdAt: Number(row.created_at),
    runStartedAt: toTime(row.run_started_at),
    runEndedAt: toTime(row.run_ended_at),
  }
}

function* deleteVersion(
  dialect: Dialect,
  valId: string,
  version: number,
  assert: AssertVal,
  at: number,
  depth: number,
): Script<VersionDeletion> {
  // If it is the current version, the one before it becomes current, and its imports are resolved.
  const newest = yield* rows<{ version: number }>(
    sql`select version from versions where val_id = ${valId} order by version desc limit 2`,
  )
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
  const found = yield* firstRow(
    sql`select version from versions where val_id = ${valId} and version = ${version}`,
  )
  if (!found) return "no_version"
  const highest = yield* firstRow<{ version: number; code: string }>(sql`
    select version, code from versions where val_id = ${valId} and version <> ${version} order by version desc limit 1`)
  if (!highest) return "last_version"
  if (version === val.version) {
    const isLocked = (next: ImportRow) => imported.some((one) => one.version === next.version)
    if (!(yield* listImports(valId, [highest.version])).every(isLocked)) throw new LinksMoved()
    const next = { ...val, version: highest.version, code: highest.code }
    yield* makeCurrent(dialect, locks, next, at, depth)
  }
  yield sql`delete from versions where val_id = ${valId} and version = ${version}`
  return "deleted"
}

/** The imports of some versions of the val. */
function* listImports(valId: string, versions: readonly number[]): Script<readonly ImportRow[]> {
  if (versions.length === 0) return []
  const numbers = join(
    versions.map((version) => sql`${version}`),
    ", ",
  )
  return yield* rows<ImportRow>(sql`
    select version, username_key as username, name_key as name from imports where val_id = ${valId} and version in (${numbers})`)
}

function* makeCurrent(
  dialect: Dialect,
  locks: LinkLocks,
  val: Val,
  at: number,
  depth: number,
): Script<void> {
  yield sql`update vals set version = ${val.version}, updated_at = ${at} where id = ${val.id}`
  const targets = yield* relinkOutgoing(
    locks,
    { id: val.id, ownerId: val.ownerId, version: val.version, isPublic: val.privacy === "public" },
    at,
  )
  yield writeSearchText(dialect, val)
  yield* emitSaved(dialect, val, "version", depth)
  yield* emitReferenced(dialect, val, targets, depth)
}
