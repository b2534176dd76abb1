import { type Database, firstRow, rows, type Script } from "../database/database.ts"
import { unavailable } from "../database/errors.ts"
import type { Migration } from "../database/migrate.ts"
import { join, raw, sql } from "../database/sql.ts"

/** Vals that are copied in one transaction. */
const valsMax = 200
const firstId = "00000000-0000-0000-0000-000000000000"

/**
 * Makes each val a folder. Its code becomes `main.tsx`, a file with the id of the val, in each of its
 * versions; its readme becomes `README.md`, in all of them, because it had no versions. No id and no
 * number changes.
 *
 * The vals are copied beforehand, some at a time; a val that has a branch has been copied. Each
 * transaction compares what it has written with what it has read, and the old tables stay as they
 * are until everything was copied.
 */
export const files: Migration = {
  version: 31,
  name: "files",
  async prepare(db, report) {
    const [counted] = await db.read<{ count: number }>(sql`select count(*) as count from vals`)
    const total = counted?.count ?? 0
    await db.writeOne(sql`delete from branches where id in (${changedVals})`)
    let done = 0
    for (let after = firstId; ; ) {
      const last = await copyVals(db, after)
      if (last === undefined) return
      done = Math.min(total, done + valsMax)
      report({ done, total })
      after = last
    }
  },
  *verify(ddl) {
    for (const lock of ddl.choose({
      sqlite: [],
      postgres: ["lock table vals, versions in exclusive mode"],
    }))
      yield raw(lock)
    const changed = yield* firstRow<{ id: string }>(sql`
      select v.id from vals v where v.id in (${changedVals}) or not exists (select 1 from branches b where b.id = v.id) limit 1`)
    if (changed)
      throw unavailable(
        `another process has changed val ${changed.id} during the migration; stop all nodes of earlier releases, then start again`,
      )
  },
  statements: () => [
    "drop table locks",
    "drop table imports",
    "drop table versions",
    "alter table new_versions rename to versions",
    "alter table new_imports rename to imports",
    "alter table new_locks rename to locks",
    "create index imports_by_name on imports (username_key, name_key)",
    "create index imports_by_pin on imports (pinned_val_id) where pinned_val_id is not null",
    "create index locks_by_bundle on locks (bundle_hash) where bundle_hash is not null",
    "create index locks_by_owner on locks (owner_id, next_attempt_at) where next_attempt_at is not null",
    "create index locks_due on locks (next_attempt_at) where next_attempt_at is not null",
    "create index locks_being_resolved on locks (node_id) where node_id is not null",
    "alter table vals drop column type",
    "alter table vals drop column readme",
    "alter table vals drop column version",
    "alter table vals drop column version_last",
  ],
}

/** The vals that were saved after they had been copied: a node of an earlier release still runs. */
const changedVals = raw(
  "select c.id from vals c join branches b on b.id = c.id where b.updated_at <> c.updated_at or b.version_last <> c.version_last",
)

/** Copies the next vals. Returns the last id, or undefined when there is none left. */
function copyVals(db: Database, after: string): Promise<string | undefined> {
  return db.write(
    function* () {
      yield* db.dialect.migrationLock
      const next = yield* rows<{ id: string; hasBranch: number | boolean }>(sql`
        select v.id, exists (select 1 from branches b where b.id = v.id) as has_branch
        from vals v where v.id > ${after} order by v.id limit ${valsMax}`)
      const ids = next.filter((row) => !row.hasBranch).map(({ id }) => id)
      if (ids.length > 0) yield* copy(ids)
      return next.at(-1)?.id
    },
    { isPatient: true },
  )
}

function* copy(ids: readonly string[]): Script<void> {
  const some = join(
    ids.map((id) => sql`${id}`),
    ", ",
  )
  yield sql`insert into branches (id, val_id, name, name_key, version, version_last, entry_type, created_at, updated_at)
    select id, id, 'main', 'main', version, version_last, type, created_at, updated_at from vals where id in (${some})`
  yield sql`insert into new_versions (branch_id, version, created_at, run_started_at, run_ended_at, author_id, entry_path, entry_since, readme_since)
    select c.val_id, c.version, c.created_at, c.run_started_at, c.run_ended_at, v.owner_id, 'main.tsx', c.version,
      case when v.readme is not null then (select min(f.version) from versions f where f.val_id = v.id) end
    from versions c join vals v on v.id = c.val_id where v.id in (${some})`
  yield sql`insert into files (id, branch_id, path) select id, id, 'main.tsx' from vals where id in (${some})`
  yield sql`insert into states (branch_id, path, since, file_id, type, created_at, content)
    select c.val_id, 'main.tsx', c.version, c.val_id, v.type, c.created_at, c.code
    from versions c join vals v on v.id = c.val_id where v.id in (${some})`
  yield* copyReadmes(ids)
  yield sql`insert into new_imports (branch_id, path, since, username_key, name_key, pinned_val_id, pinned_version, specifiers, pinned_at)
    select val_id, 'main.tsx', version, username_key, name_key, pinned_val_id, pinned_version, specifiers, pinned_at
    from imports where val_id in (${some})`
  yield sql`insert into new_locks (branch_id, version, owner_id, state, attempts, next_attempt_at, node_id, fence, updated_at, bundle_hash, resolution)
    select val_id, version, owner_id, state, attempts, next_attempt_at, node_id, fence, updated_at, bundle_hash, resolution
    from locks where val_id in (${some})`
  yield* check(ids)
}

function* copyReadmes(ids: readonly string[]): Script<void> {
  for (const id of ids) {
    const readme = Bun.randomUUIDv7()
    const added = yield* firstRow(sql`
      insert into states (branch_id, path, since, file_id, type, created_at, content)
      select v.id, 'README.md', (select min(f.version) from versions f where f.val_id = v.id), ${readme}, 'file', v.created_at, v.readme
      from vals v where v.id = ${id} and v.readme is not null returning file_id`)
    if (added)
      yield sql`insert into files (id, branch_id, path) values (${readme}, ${id}, 'README.md')`
  }
}

/** Throws unless every version of the vals reads as before. */
function* check(ids: readonly string[]): Script<void> {
  const some = join(
    ids.map((id) => sql`${id}`),
    ", ",
  )
  const before =
    raw(`select v.id, v.version as current, v.version_last as last, c.version, c.created_at as saved_at, v.type, v.readme, c.code
    from vals v join versions c on c.val_id = v.id`)
  const after =
    raw(`select b.id, b.version as current, b.version_last as last, n.version, n.created_at as saved_at, s.type, r.content as readme, s.content as code
    from branches b join new_versions n on n.branch_id = b.id
    join states s on s.branch_id = b.id and s.path = n.entry_path and s.since = n.entry_since
    left join states r on r.branch_id = b.id and r.path = 'README.md' and r.since = n.readme_since`)
  for (const [left, right] of [
    [before, after],
    [after, before],
  ] as const) {
    const differing = yield* firstRow<{ id: string; version: number }>(sql`
      select id, version from (select * from (${left}) l where l.id in (${some}) except select * from (${right}) r where r.id in (${some})) differing limit 1`)
    if (differing)
      throw new Error(
        `Cannot copy version ${differing.version} of val ${differing.id}: it reads differently as files; nothing was changed`,
      )
  }
}
