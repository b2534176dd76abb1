import { type Dialect, firstRow, raw, type Statements } from "@hamlet/database"

const limits = {
  /** How long statements of others may wait behind us, while we wait for the ones before us. */
  lockMs: 100,
  /** How long the locks may last. */
  statementMs: 5_000,
  /** Runs in the rest that are read, and moved into a new partition, while others wait. */
  movedMax: 10_000,
}

/** Arbitrary, and ours alone, as that of migrations. */
const lockKey = 7_243_392_818

/** The tables, with the columns of the id, and how their partitions are stored. */
const tables = [
  // The lines of long logs are apart from the rows that lists read.
  ["runs", "id", "with (toast_tuple_target = 512)"],
  ["run_responses", "run_id", ""],
] as const

/** A partition for ids from one, up to the one before another. */
interface NewPartition {
  readonly name: string
  readonly from: string
  readonly to: string
  /** Whether its range is reserved. */
  readonly isReserved: boolean
}

/** Undefined where all runs are in one table. */
export function findPartitionTables(dialect: Dialect) {
  return dialect.hasPartitions ? partitionTables : undefined
}

/**
 * Runs and their responses in several tables, each with those of a time.
 * `runs_rest` and `run_responses_rest` take the rows that no other partition takes: those of a node
 * whose clock is ahead, and runs that outlived their partition.
 */
const partitionTables = {
  /**
   * Returns the `name` of each partition, its `bound` and the time of the database, `at`; nothing
   * where the schema is older.
   */
  list: raw(`
    select substr(c.relname, ${"runs_".length + 1}) as name, pg_get_expr(c.relpartbound, c.oid) as bound,
      floor(extract(epoch from statement_timestamp()) * 1000)::bigint as at
    from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'runs'::regclass order by c.relname`),
  /**
   * Adds a partition. It is `crowded` if the one of all other ids has so many runs that reading or
   * moving them would take long: their range has to be reserved first. `busy`: another node adds it.
   */
  *add({ name, from, to, isReserved }: NewPartition): Statements<"added" | "crowded" | "busy"> {
    if (!isReserved && (yield* isCrowded())) return "crowded"
    if (!(yield* lock("runs_rest, run_responses_rest"))) return "busy"
    if (yield* exists(name)) return "added"
    for (const [table, key, storage] of tables) {
      const partition = `${table}_${name}`
      yield raw(
        `create table ${partition} (like ${table} including defaults including constraints including indexes including storage) ${storage}`,
      )
      yield raw(`
        with moved as (delete from ${table}_rest where ${key} >= '${from}' and ${key} < '${to}' returning *)
        insert into ${partition} select * from moved`)
      yield raw(
        `alter table ${table} attach partition ${partition} for values from ('${from}') to ('${to}')`,
      )
      yield raw(`alter table ${table}_rest drop constraint if exists ${table}_rest_bound`)
    }
    return "added"
  },
  /**
   * Promises that the partition of all other ids has none of these. If it has, it promises nothing
   * and returns the newest of them.
   */
  *reserve(
    from: string,
    to: string,
  ): Statements<"reserved" | "busy" | { readonly newest: string }> {
    if (!(yield* lock("runs_rest, run_responses_rest"))) return "busy"
    const newest = yield* firstRow<{ id: string }>`
      select id from runs_rest where id >= ${from} and id < ${to} order by id desc limit 1`
    if (newest) return { newest: newest.id }
    for (const [table, key] of tables) {
      yield raw(`alter table ${table}_rest drop constraint if exists ${table}_rest_bound`)
      yield raw(`alter table ${table}_rest add constraint ${table}_rest_bound
        check (${key} is not null and not (${key} >= '${from}' and ${key} < '${to}')) not valid`)
    }
    return "reserved"
  },
  /** Checks the promise, one statement after the other, while others read and write. */
  validations: tables.map(([table]) =>
    raw(`do $$ begin
      if exists (select 1 from pg_constraint where conname = '${table}_rest_bound') then
        alter table ${table}_rest validate constraint ${table}_rest_bound;
      end if;
    end $$`),
  ),
  /** Deletes a partition with all runs in it but those that have not ended. */
  *drop(name: string): Statements<void> {
    if (!(yield* lock("only runs, only run_responses")) || !(yield* exists(name))) return
    for (const [table] of tables)
      yield raw(`alter table ${table} detach partition ${table}_${name}`)
    // Nothing takes their ids any more but the rest. The condition is that of an index.
    yield raw(`insert into runs select * from runs_${name}
      where status <> 'succeeded' and status in ('queued', 'running')`)
    for (const [table] of tables) yield raw(`drop table ${table}_${name}`)
  },
}

/** False while another node does the same. */
function* lock(names: string): Statements<boolean> {
  const lock = yield* firstRow<{ isFree: boolean }>`
    select pg_try_advisory_xact_lock(${lockKey}) as is_free`
  if (!lock?.isFree) return false
  yield raw(`set local lock_timeout = ${limits.lockMs}`)
  yield raw(`set local statement_timeout = ${limits.statementMs}`)
  yield raw(`lock table ${names} in access exclusive mode`)
  return true
}

/** Whether the partition of all other ids has more runs than can be read while others wait. */
function* isCrowded(): Statements<boolean> {
  const found = yield* firstRow<{ count: number }>`
    select count(*) as count from (select 1 from runs_rest limit ${limits.movedMax + 1}) found`
  return Number(found?.count) > limits.movedMax
}

function* exists(name: string): Statements<boolean> {
  const table = yield* firstRow<{ exists: boolean }>`
    select to_regclass(${`runs_${name}`}) is not null as exists`
  return table?.exists === true
}
