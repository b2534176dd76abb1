import type { Val } from "../domain/vals.ts"
import type { Version, VersionDeletion, VersionStore } from "../domain/versions.ts"
import { writeSearchText } from "./change-val.ts"
import { type Database, firstRow, type Script } from "./database.ts"
import { relinkOutgoing } from "./dependencies.ts"
import type { Dialect } from "./dialect.ts"
import { limitTo, toSlice } from "./slices.ts"
import { sql } from "./sql.ts"
import { toTime, toVal, type ValRow, valColumns } from "./val-rows.ts"
import { lockVal } from "./vals.ts"

interface VersionRow {
  readonly val_id: string
  readonly version: number
  readonly code: string
  readonly created_at: number | string
  readonly run_started_at: number | string | null
  readonly run_ended_at: number | string | null
}

/** Versions in the database. */
export function createVersionStore(db: Database): VersionStore {
  return {
    async find(valId, version) {
      const [row] = await db.read<ValRow>(sql`
        select ${valColumns} from vals v join users u on u.id = v.owner_id join versions c on c.val_id = v.id
        where v.id = ${valId} and c.version = ${version}`)
      return row && toVal(row)
    },
    async list(valId, page) {
      const rows = await db.read<VersionRow>(sql`
        select val_id, version, code, created_at, run_started_at, run_ended_at from versions
        where val_id = ${valId} order by version desc ${limitTo(page)}`)
      return toSlice(rows, page, toVersion)
    },
    delete: (valId, version, assert, at) => db.write(() => deleteVersion(db.dialect, valId, version, assert, at)),
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

function* deleteVersion(dialect: Dialect, valId: string, version: number, assert: (val: Val) => void, at: number): Script<VersionDeletion> {
  const val = yield* lockVal(dialect, valId)
  if (!val) return "no_val"
  assert(val)
  const found = yield* firstRow(sql`select version from versions where val_id = ${valId} and version = ${version}`)
  if (!found) return "no_version"
  const highest = yield* firstRow<{ version: number; code: string }>(sql`
    select version, code from versions where val_id = ${valId} and version <> ${version} order by version desc limit 1`)
  if (!highest) return "last_version"
  if (version === val.version) yield* makeCurrent({ ...val, version: highest.version, code: highest.code }, at)
  yield sql`delete from versions where val_id = ${valId} and version = ${version}`
  return "deleted"
}

function* makeCurrent(val: Val, at: number): Script<void> {
  yield sql`update vals set version = ${val.version}, updated_at = ${at} where id = ${val.id}`
  yield* relinkOutgoing({ id: val.id, ownerId: val.ownerId, version: val.version, isPublic: val.privacy === "public" }, at)
  yield* writeSearchText(val)
}
