import { toRetryDelay } from "@hamlet/kit"
import type { Database, Script } from "../database.ts"
import { firstRow } from "../database.ts"
import type { Ddl } from "../ddl.ts"
import type { Dialect } from "../dialect.ts"
import { LockTimeout, unavailable } from "../errors.ts"
import { raw, type Statement, sql } from "../sql.ts"

/**
 * One step of the schema. Once it has landed it never changes: a later migration fixes it. It
 * therefore gets nothing of the dialect but its frozen part.
 */
export interface Migration {
  readonly version: number
  readonly name: string
  /** For the base: the release that has this schema. Its start brings older data to it. */
  readonly release?: string
  /**
   * The oldest schema whose release keeps working on this one: it works as
   * before. Its nodes go on beside newer ones, and can be started again. Without it, nodes that do
   * not know this migration stop writing.
   */
  readonly worksWith?: number
  /**
   * Work on much data before the statements, in transactions of its own. It may be killed at any
   * time and begins again then, so it must find out what it has done. Nodes that start at the same
   * time may do it together.
   */
  prepare?(db: Database): Promise<void>
  /** Throws, in the transaction of the statements, when what was prepared is not complete. */
  verify?(ddl: Ddl): Script<void>
  /**
   * Statements that change tables which other nodes use meanwhile. They are applied again from the
   * first one while a lock is not free: each must be quick, however many rows there are.
   */
  statements(ddl: Ddl): readonly string[]
}

/**
 * Brings the schema up to date. The first migration is the base, which only an empty database gets.
 * Each has a transaction of its own: a process that is killed leaves the schema of some version.
 * Nodes that start at the same time take turns, and the later ones find nothing left to do.
 */
export async function migrate(
  db: Database,
  migrations: readonly Migration[],
  onWait: (name: string, attempts: number) => void = () => undefined,
): Promise<{ from: number; to: number }> {
  assertAscending(migrations)
  const from = await db.write(() => prepareTable(db.dialect, migrations), { isPatient: true })
  for (;;) {
    const next = await findNext(db, migrations)
    if (next === undefined) return { from, to: migrations.at(-1)?.version ?? 0 }
    try {
      await next.prepare?.(db)
    } catch (error) {
      // Another node may have applied it meanwhile, and changed the tables.
      if ((await findNext(db, migrations)) === next) throw error
    }
    await applyOnline(db, migrations, next, (attempts) => onWait(next.name, attempts))
  }
}

/**
 * Why data with a schema before the base cannot be used, and the release to start on it first;
 * undefined for other data.
 */
export function findTooOld(
  schemaVersion: number,
  [base]: readonly Migration[],
): { readonly problem: string; readonly release: string } | undefined {
  if (base === undefined || schemaVersion >= base.version) return undefined
  const problem = `its schema is ${schemaVersion}, and this version of Hamlet needs ${base.version} or newer`
  return { problem, release: base.release ?? `with schema ${base.version}` }
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
  const applied = await db.read<{ version: number; appliedAt: number }>`
    select version, applied_at from schema_migrations order by version`
  const at = Number(applied.find((row) => row.version === version)?.appliedAt ?? 0)
  return at - Number(applied[0]?.appliedAt ?? 0) < firstStartMsMax ? 0 : at + upgradeMsMax
}

function assertAscending(migrations: readonly Migration[]): void {
  for (const [index, { version }] of migrations.entries()) {
    if (version <= (migrations[index - 1]?.version ?? 0))
      throw new Error(`Cannot migrate: version ${version} is out of order`)
  }
}

async function findNext(
  db: Database,
  migrations: readonly Migration[],
): Promise<Migration | undefined> {
  const newest = await db.first<{ version: number | null }>`
    select max(version) as version from schema_migrations`
  return migrations.find(({ version }) => version > (newest?.version ?? 0))
}

/** Returns the version of the schema, 0 for an empty database. */
function* prepareTable(dialect: Dialect, migrations: readonly Migration[]): Script<number> {
  yield* dialect.migrationLock
  const { integer, text, time } = dialect.types
  yield raw(`
    create table if not exists schema_migrations (
      version ${integer} primary key,
      name ${text} not null,
      applied_at ${time} not null
    )`)
  // A table of its own: releases before it have created the one above without this column.
  yield raw(`
    create table if not exists schema_compatibility (
      version ${integer} primary key,
      works_with ${integer} not null
    )`)
  return yield* readVersion(migrations)
}

const lockBackoff = { firstMs: 500, factor: 2, delayMsMax: 10_000, forMs: 3_600_000 }

/**
 * Applies the migration, unless another node has. While another transaction holds a table that it
 * changes, it tries again and again: all requests that use a table queue behind a statement that
 * waits for it.
 */
async function applyOnline(
  db: Database,
  migrations: readonly Migration[],
  next: Migration,
  onWait: (attempts: number) => void,
): Promise<void> {
  const deadline = performance.now() + lockBackoff.forMs
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await db.write(() => apply(db.dialect, migrations, next), { isPatient: true })
    } catch (error) {
      if (!(error instanceof LockTimeout)) throw error
      if (performance.now() > deadline)
        throw unavailable(
          "a transaction has held a table that a migration changes for an hour; end it, then start again",
          error,
        )
    }
    onWait(attempts)
    await Bun.sleep(toRetryDelay(lockBackoff, attempts))
  }
}

/** Applies the migration if it is the first that is missing: no other was prepared. */
function* apply(dialect: Dialect, migrations: readonly Migration[], next: Migration): Script<void> {
  yield* dialect.migrationLock
  yield* dialect.briefLocks
  const current = yield* readVersion(migrations)
  if (migrations.find(({ version }) => version > current) !== next) return
  if (next.verify) yield* next.verify(dialect)
  for (const text of next.statements(dialect)) yield raw(text)
  yield sql`insert into schema_migrations (version, name, applied_at) values (${next.version}, ${next.name}, ${Date.now()})`
  if (next.worksWith !== undefined)
    yield sql`insert into schema_compatibility (version, works_with) values (${next.version}, ${next.worksWith})`
}

/** The newest migration that a process cannot work with; none while all declare that it can. */
export function selectIncompatible(newestKnown: number): Statement {
  return sql`
    select m.version, m.name from schema_migrations m
    left join schema_compatibility c on c.version = m.version
    where m.version > ${newestKnown} and coalesce(c.works_with, m.version) > ${newestKnown}
    order by m.version desc limit 1`
}

/** Throws when the schema is older than the base, or newer than this process can work with. */
function* readVersion(migrations: readonly Migration[]): Script<number> {
  const newest = yield* firstRow<{ version: number }>`
    select version from schema_migrations order by version desc limit 1`
  if (newest === undefined) return 0
  const tooOld = findTooOld(newest.version, migrations)
  if (tooOld !== undefined)
    throw unavailable(
      `${tooOld.problem}; start Hamlet ${tooOld.release} on it once, then this version`,
    )
  const newestKnown = migrations.at(-1)?.version ?? 0
  const newer = yield* firstRow<{ version: number; name: string }>(selectIncompatible(newestKnown))
  if (newer)
    throw unavailable(
      `a newer version of Hamlet has written it (its schema is ${newer.version} "${newer.name}", this version knows up to ${newestKnown})`,
    )
  return newest.version
}
