import type { Database, Script } from "./database.ts"
import { firstRow, rows } from "./database.ts"
import type { Ddl } from "./ddl.ts"
import type { Dialect } from "./dialect.ts"
import { unavailable } from "./errors.ts"
import { raw, sql } from "./sql.ts"

/**
 * One step of the schema. Once it has landed it never changes: a later migration fixes it. It
 * therefore gets nothing of the dialect but its frozen part.
 */
export interface Migration {
  readonly version: number
  readonly name: string
  statements(ddl: Ddl): readonly string[]
}

/**
 * Brings the schema up to date, each migration in a transaction of its own: a process that is killed
 * leaves the schema of some version. Nodes that start at the same time take turns, and the later
 * ones find nothing left to do.
 */
export async function migrate(
  db: Database,
  migrations: readonly Migration[],
): Promise<{ from: number; to: number }> {
  assertAscending(migrations)
  const from = await db.write(() => prepareTable(db.dialect, migrations), { isPatient: true })
  for (;;) {
    const applied = await db.write(() => applyNext(db.dialect, migrations), { isPatient: true })
    if (applied === undefined) return { from, to: migrations.at(-1)?.version ?? 0 }
  }
}

/** How long nodes of the previous release may keep writing after a migration. */
const upgradeMsMax = 3_600_000
/** Migrations that are applied in one go are at most this far apart. */
const firstStartMsMax = 60_000

/**
 * The time until which rows may lack the data that is written since that migration; 0 where the
 * database was created with it.
 */
export async function findCompleteSince(db: Database, version: number): Promise<number> {
  const applied = await db.read<{ version: number; applied_at: number | string }>(
    sql`select version, applied_at from schema_migrations order by version`,
  )
  const at = Number(applied.find((row) => row.version === version)?.applied_at ?? 0)
  return at - Number(applied[0]?.applied_at ?? 0) < firstStartMsMax ? 0 : at + upgradeMsMax
}

function assertAscending(migrations: readonly Migration[]): void {
  for (const [index, { version }] of migrations.entries()) {
    if (version <= (migrations[index - 1]?.version ?? 0))
      throw new Error(`Cannot migrate: version ${version} is out of order`)
  }
}

/** Returns the version of the schema. */
function* prepareTable(dialect: Dialect, migrations: readonly Migration[]): Script<number> {
  yield* dialect.migrationLock
  const { integer, text, time } = dialect.types
  yield raw(`
    create table if not exists schema_migrations (
      version ${integer} primary key,
      name ${text} not null,
      applied_at ${time} not null
    )`)
  const applied = yield* appliedVersions(migrations)
  return Math.max(0, ...applied)
}

/** Applies the first migration that is missing, if any, and returns its version. */
function* applyNext(
  dialect: Dialect,
  migrations: readonly Migration[],
): Script<number | undefined> {
  yield* dialect.migrationLock
  const applied = yield* appliedVersions(migrations)
  const next = migrations.find(({ version }) => !applied.has(version))
  if (next === undefined) return undefined
  for (const text of next.statements(dialect)) yield raw(text)
  yield sql`insert into schema_migrations (version, name, applied_at) values (${next.version}, ${next.name}, ${Date.now()})`
  return next.version
}

function* appliedVersions(migrations: readonly Migration[]): Script<ReadonlySet<number>> {
  const known = new Set(migrations.map(({ version }) => version))
  const applied = yield* rows<{ version: number }>(
    sql`select version from schema_migrations order by version`,
  )
  const unknown = applied.find(({ version }) => !known.has(version))
  if (unknown !== undefined) yield* refuseNewer(migrations.at(-1)?.version ?? 0)
  return new Set(applied.map(({ version }) => version))
}

function* refuseNewer(newestKnown: number): Script<never> {
  const newest = yield* firstRow<{ version: number; name: string }>(
    sql`select version, name from schema_migrations order by version desc limit 1`,
  )
  throw unavailable(
    `a newer version of Hamlet has written it (its schema is ${newest?.version} "${newest?.name}", this version knows up to ${newestKnown})`,
  )
}
