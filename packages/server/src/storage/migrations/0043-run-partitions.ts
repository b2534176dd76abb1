import {
  type Database,
  firstRow,
  type Migration,
  raw,
  type Statement,
  sql,
  unavailable,
} from "@hamlet/database"

/**
 * How far beyond the day of the newest run the table of today reaches, as a partition. Until the
 * migration is complete, no run with a later id can be written: a migration that was killed must be
 * started again within this time.
 */
const aheadDays = 8
const dayMs = 86_400_000
/** The last time that an id can have. */
const timeMax = 2 ** 48 - 1

/** Takes exclusive locks without making others wait behind it for more than a tenth of a second. */
const lockTables = (tables: string) => `
    loop
      begin
        perform set_config('lock_timeout', '100ms', true);
        lock table ${tables} in access exclusive mode;
        exit;
      exception when lock_not_available or deadlock_detected then
        perform pg_sleep(0.2 + 0.3 * random());
      end;
    end loop;`

/**
 * PostgreSQL: partitions runs and their responses by the range of their ids, which is that of their
 * times. No row is copied: the tables of today become the first partitions, and what proves that
 * they contain no later ids is checked beforehand, while they are in use. Statements, names and the
 * order of columns stay the same, so nodes of 0.2.0 go on. `storage/runs/partition-tables.ts` adds
 * and drops the later partitions.
 *
 * A partition that a foreign key refers to cannot be dropped, so a trigger deletes the mails of
 * deleted runs. Of a run with more than 2 KB, a row keeps 512 bytes and the texts that lists read;
 * the lines of its log are stored apart.
 */
export const runPartitions: Migration = {
  version: 43,
  name: "run-partitions",
  worksWith: 40,
  async prepare(db) {
    if (!db.dialect.choose({ sqlite: false, postgres: true })) return
    await db.write(() => addBounds(db), { isPatient: true })
    try {
      for (const table of ["runs", "run_responses"]) await writeRaw(db, validate(table))
    } catch (error) {
      // A constraint that remained would refuse the runs of a node whose clock is ahead.
      await writeRaw(db, dropBounds)
      throw error
    }
  },
  *verify(ddl) {
    if (!ddl.choose({ sqlite: false, postgres: true })) return
    const bounds = yield* firstRow<{ count: number }>(sql`
      select count(*) as count from pg_constraint
      where conrelid in ('runs'::regclass, 'run_responses'::regclass) and conname like '%\\_bound' and convalidated`)
    if (bounds?.count !== 2)
      throw unavailable("the migration of runs was not prepared; start again")
  },
  statements: (ddl) =>
    ddl.choose<readonly string[]>({
      sqlite: [],
      postgres: [
        `do $$ declare parent text; key text; bound text; definitions text[]; definition text; name text; begin
    ${lockTables("runs, run_responses, incoming_mails")}
    alter table incoming_mails drop constraint incoming_mails_run_id_fkey;
    alter table runs alter error set storage main, alter request set storage main, alter last_line set storage main;
    for parent, key in values ('runs', 'id'), ('run_responses', 'run_id') loop
      select substring(pg_get_constraintdef(oid) from '''(.*)''') into strict bound
        from pg_constraint where conrelid = parent::regclass and conname = parent || '_bound';
      definitions := array(select pg_get_indexdef(indexrelid) from pg_index where indrelid = parent::regclass and not indisprimary);
      for name in select relname from pg_class where oid in (select indexrelid from pg_index where indrelid = parent::regclass) loop
        execute format('alter index %I rename to %I', name, replace(name, parent, parent || '_before'));
      end loop;
      execute format('alter table %I rename to %I', parent, parent || '_before');
      execute format('create table %I (like %I including defaults including constraints including storage) partition by range (%I)', parent, parent || '_before', key);
      execute format('alter table %I drop constraint %I', parent, parent || '_bound');
      execute format('alter table %I add primary key (%I)', parent, key);
      foreach definition in array definitions loop execute definition; end loop;
      execute format('create table %I partition of %I default', parent || '_rest', parent);
      execute format('alter table %I attach partition %I for values from (minvalue) to (%L)', parent, parent || '_before', bound);
      execute format('alter table %I drop constraint %I', parent || '_before', parent || '_bound');
    end loop;
    alter table runs_before set (toast_tuple_target = 512);
    alter table runs_rest set (toast_tuple_target = 512);
  end $$`,
        `create function delete_incoming_mail() returns trigger language plpgsql as
          $$ begin delete from incoming_mails where run_id = old.id; return null; end $$`,
        `create trigger runs_deleted after delete on runs for each row when (old.source = 'email')
          execute function delete_incoming_mail()`,
      ],
    }),
}

/** Promises that no id is beyond the first partition. Rows that exist are checked later. */
function* addBounds(db: Database) {
  yield* db.dialect.migrationLock
  const found = yield* firstRow(
    sql`select 1 from pg_constraint where conrelid = 'runs'::regclass and conname = 'runs_bound'`,
  )
  if (found) return
  yield raw(`do $$ declare newest bigint; bound text; begin
    ${lockTables("runs, run_responses")}
    select greatest((extract(epoch from now()) * 1000)::bigint, ('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint) into newest
      from (select (select id from runs order by id desc limit 1) as id) newest_run;
    bound := lpad(to_hex(least(newest / ${dayMs} * ${dayMs} + ${aheadDays * dayMs}, ${timeMax})), 12, '0') || repeat('0', 20);
    execute format('alter table runs add constraint runs_bound check (id < %L::uuid) not valid', bound);
    execute format('alter table run_responses add constraint run_responses_bound check (run_id < %L::uuid) not valid', bound);
  end $$`)
}

const validate = (table: string) => raw(`alter table ${table} validate constraint ${table}_bound`)

// After the migration by another node there is nothing to drop.
const dropBounds = raw(`do $$ begin
  if exists (select 1 from pg_class where oid = 'runs'::regclass and relkind = 'r') then
    ${lockTables("runs, run_responses")}
    alter table runs drop constraint if exists runs_bound;
    alter table run_responses drop constraint if exists run_responses_bound;
  end if;
end $$`)

async function writeRaw(db: Database, statement: Statement): Promise<void> {
  await db.write(
    function* () {
      yield statement
    },
    { isPatient: true },
  )
}
