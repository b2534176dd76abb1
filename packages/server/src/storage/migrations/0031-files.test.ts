import { expect, test } from "bun:test"
import {
  describeEachDatabase,
  openAgain,
  type TestDatabase,
} from "../../../test/support/databases.ts"
import type { Database } from "../database/database.ts"
import { migrate } from "../database/migrate.ts"
import { sql } from "../database/sql.ts"
import { createImportStore } from "../modules/imports.ts"
import { createLockfileStore } from "../modules/lockfiles.ts"
import { base } from "../schema/base.ts"
import { createValStore } from "../vals/vals.ts"
import { createVersionStore } from "../vals/versions.ts"
import { migrations } from "./index.ts"

const owner = "00000000-0000-7000-8000-00000000000a"
const other = "00000000-0000-7000-8000-00000000000b"
const program = new URL("../../../test/support/processes/files-migrating-child.ts", import.meta.url)
  .pathname

function idOf(number: number): string {
  return `00000000-0000-7000-8000-${number.toString(16).padStart(12, "0")}`
}

/** Many vals of the release before; some have several versions, gaps, a readme or imports. */
async function fill(db: Database, count: number): Promise<void> {
  await migrate(db, [base])
  await db.write(function* () {
    for (const [id, name] of [
      [owner, "ada"],
      [other, "bob"],
    ] as const)
      yield sql`insert into users (id, username, username_key, created_at) values (${id}, ${name}, ${name}, 1)`
    for (let number = 256; number < 256 + count; number++) {
      const id = idOf(number)
      const type = ["script", "http", "interval", "email"][number % 4] ?? ""
      const readme = number % 3 === 0 ? `# ${number}` : null
      const versions = number % 5 === 0 ? [2, 3, 7] : [1]
      const last = versions.at(-1) ?? 1
      yield sql`insert into vals (id, owner_id, name, name_key, privacy, type, readme, version, version_last, created_at, updated_at)
        values (${id}, ${number % 2 === 0 ? owner : other}, ${`val${number}`}, ${`val${number}`}, 'public', ${type}, ${readme}, ${last}, ${last + 1}, 5, 9)`
      for (const version of versions) {
        yield sql`insert into versions (val_id, version, created_at, run_started_at, code) values (${id}, ${version}, ${version + 5}, ${version}, ${`code ${number}/${version}`})`
        if (number % 7 === 0)
          yield sql`insert into imports (val_id, version, username_key, name_key, pinned_val_id, pinned_version, specifiers)
            values (${id}, ${version}, 'ada', 'val256', ${number % 2 === 0 ? null : idOf(256)}, ${number % 2 === 0 ? null : 1}, '["./val256"]')`
        if (number % 11 === 0)
          yield sql`insert into locks (val_id, version, state, due_at, updated_at, bundle_hash, resolution)
            values (${id}, ${version}, 'ready', ${version}, ${version}, 'hash', '{"imports":[],"bundle":"hash"}')`
      }
    }
  })
}

function readOld(db: Database) {
  return db.read(sql`
    select v.id, v.type, v.readme, v.version as current, c.version, c.code, c.created_at, c.run_started_at
    from vals v join versions c on c.val_id = v.id order by v.id, c.version`)
}

function readNew(db: Database) {
  return db.read(sql`
    select b.id, c.type, d.content as readme, b.version as current, n.version, c.content as code, n.created_at, n.run_started_at
    from branches b join versions n on n.branch_id = b.id
    join states c on c.branch_id = b.id and c.path = n.entry_path and c.since = n.entry_since
    left join states d on d.branch_id = b.id and d.path = 'README.md' and d.since = n.readme_since
    order by b.id, n.version`)
}

/** It waits to be killed when it has copied so many vals. */
const spawnMigration = (database: TestDatabase, vals: number) =>
  Bun.spawn([process.execPath, program, database.url ?? "", database.path ?? "", String(vals)], {
    stdout: "pipe",
    stderr: "inherit",
  })

describeEachDatabase("files migration", (open) => {
  test("makes every version of every val a folder that reads as before", async () => {
    const { db } = await open({ isEmpty: true })
    await fill(db, 450)
    const old = await readOld(db)
    const progress: number[] = []

    await migrate(db, migrations, (_, { done }) => progress.push(done))

    expect(await readNew(db)).toEqual(old)
    expect(progress).toEqual([200, 400, 450])
    const vals = createValStore(db)
    expect(await vals.findById(idOf(270))).toMatchObject({
      ...{ name: "val270", type: "interval", readme: "# 270", version: 7, code: "code 270/7" },
      versionCreatedAt: 12,
    })
    const versions = createVersionStore(db)
    expect(await versions.find(idOf(270), 3)).toMatchObject({ code: "code 270/3", readme: "# 270" })
    expect(await versions.find(idOf(270), 1)).toBeUndefined()
    expect(await createImportStore(db).find(toMain(idOf(259)), null)).toMatchObject([
      { address: "ada/val256", isPinned: true, pinnedAt: 6, version: { number: 1 } },
    ])
    expect(await createLockfileStore(db).find(idOf(264), 1)).toMatchObject({ state: "ready" })
    expect(await db.read(sql`select distinct owner_id from locks order by owner_id`)).toEqual([
      { ownerId: owner },
      { ownerId: other },
    ])
    // Numbers go on where they were.
    const saved = await vals.change(
      idOf(270),
      { source: { code: "new", imports: [] } },
      () => {},
      99,
    )
    expect(saved?.val.version).toBe(9)
  })

  test("goes on after it was killed, however often", async () => {
    const database = await open({ isEmpty: true })
    await fill(database.db, 1_200)
    const old = await readOld(database.db)

    for (let kill = 1; kill <= 5; kill++) {
      const child = spawnMigration(database, kill * 200)
      let output = ""
      for await (const chunk of child.stdout) {
        output += new TextDecoder().decode(chunk)
        if (output.endsWith("\n")) child.kill("SIGKILL")
      }
      await child.exited
      expect([output, child.signalCode]).toEqual([`${kill * 200}\n`, "SIGKILL"])
    }
    expect(await readOld(database.db)).toEqual(old)
    const again = await openAgain(database)
    await migrate(again, migrations)
    expect(await readNew(again)).toEqual(old)
    await again.stop()
  })

  test("copies a val again that was saved meanwhile", async () => {
    const { db } = await open({ isEmpty: true })
    await fill(db, 10)
    const tables = migrations.filter(({ version }) => version <= 30)
    const files = migrations.find(({ version }) => version === 31)
    if (!files?.prepare) throw new Error("Cannot find the migration")
    await migrate(db, tables)
    await files.prepare(db, () => {})
    await db.write(function* () {
      yield sql`update vals set readme = 'changed', updated_at = 77 where id = ${idOf(256)}`
    })

    await migrate(db, migrations)

    expect(await createValStore(db).findById(idOf(256))).toMatchObject({
      readme: "changed",
      updatedAt: 77,
    })
  })

  test("changes nothing when a val cannot be copied", async () => {
    const { db } = await open({ isEmpty: true })
    await fill(db, 10)
    await db.write(function* () {
      yield sql`delete from versions where val_id = ${idOf(259)}`
      yield sql`update vals set readme = 'without a version' where id = ${idOf(259)}`
    })
    const old = await readOld(db)

    await expect(migrate(db, migrations)).rejects.toThrow()

    expect(await readOld(db)).toEqual(old)
    expect(await db.read(sql`select id from branches`)).toEqual([])
  })
})

const toMain = (branchId: string) => ({ branchId, path: "main.tsx", since: 1 })
