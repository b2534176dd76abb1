import { Database as Connection } from "bun:sqlite"
import { afterAll, beforeAll, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { createBackupChecker } from "@hamlet/contract/backup"
import { sql } from "@hamlet/database"
import { waitUntil } from "@hamlet/kit/testing"
import { refusalOf } from "../api/suite.ts"
import { expectStatus, openApi, type TestApi, type TestUser, testBaseUrl } from "../support/api.ts"
import { describeEachDatabase, type TestDatabase } from "../support/databases.ts"

/** More than is kept in memory. */
const blobs = 6
const blobBytes = 4 * 1024 ** 2

describeEachDatabase("GET /v1/backup", (open) => {
  let api: TestApi
  let database: TestDatabase
  let dataDir: string
  let ada: TestUser

  beforeAll(async () => {
    database = await open()
    dataDir =
      database.path === undefined
        ? mkdtempSync(join(tmpdir(), "hamlet-takers-"))
        : dirname(database.path)
    const env = { HAMLET_DATA_DIR: dataDir, HAMLET_DATA_DIR_SHARED: "yes" }
    api = await openApi(() => Promise.resolve(database), env)
    ada = await api.addUser("ada")
    expectStatus(
      await api.call("POST", "/v1/sqlite/execute", {
        as: ada,
        body: { statement: "create table t (a)" },
      }),
      200,
    )
  })
  afterAll(async () => {
    await api.close()
    rmSync(dataDir, { recursive: true, force: true })
  })

  const ask = (query = "") =>
    api.hamlet.app.request(`${testBaseUrl}/v1/backup${query}`, {
      headers: { authorization: `Bearer ${api.admin.token}` },
    })

  test("releases the database even when its reader does not read", async () => {
    const as = api.admin
    for (let index = 0; index < blobs; index++) {
      const body = Buffer.alloc(blobBytes)
      // Nothing that could be made smaller.
      for (let at = 0; at < blobBytes; at += 65_536)
        crypto.getRandomValues(body.subarray(at, at + 65_536))
      expectStatus(await api.call("POST", `/v1/blob/large${index}`, { as, body }), 201)
    }
    const reader = (await ask()).body?.getReader()
    const checker = createBackupChecker()
    const first = await reader?.read()
    checker.add(first?.value ?? new Uint8Array())

    await waitUntil(async () => {
      expectStatus(
        await api.call("POST", "/v1/blob/written-meanwhile", { as, body: Buffer.alloc(100_000) }),
        201,
      )
      return !(await isHeld(database))
    })

    for (let next = await reader?.read(); next?.value; next = await reader?.read())
      checker.add(next.value)
    const { trailer, bytes } = checker.end()
    expect(bytes).toBeGreaterThan(blobs * blobBytes)
    expect(trailer.sections.find(({ name }) => name === "objects")?.items).toBeGreaterThanOrEqual(
      (blobs * blobBytes) / 4096,
    )
  }, 180_000)

  test("names the user whose database cannot be read before the first byte, and skips it with skipDamaged", async () => {
    const bob = await api.addUser("bob")
    const folder = join(dataDir, "sqlite")
    writeFileSync(join(folder, `${bob.id}.db`), "this was a database once".repeat(1_000))
    // Not that of a user, so it is no obstacle.
    writeFileSync(join(folder, `${Bun.randomUUIDv7()}.db`), "nobody's".repeat(1_000))
    const refused = await api.call("GET", "/v1/backup", { as: api.admin })
    expect(refusalOf(refused)).toEqual([409, "database_damaged"])
    expect(refused.json.message).toBe(
      `Cannot back up the database of user "bob": file is not a database (${bob.id}.db); with skipDamaged the backup leaves it out`,
    )
    expect(
      refusalOf(await api.call("GET", "/v1/backup?skipDamaged=maybe", { as: api.admin })),
    ).toEqual([400, "invalid_request"])
    const val = { as: bob, body: { name: "notes", code: "1" } }
    const { json } = await api.call("POST", "/v1/vals", val)
    mkdirSync(join(folder, bob.id))
    // One damaged database is of a val that is there, and one of a val that was deleted.
    for (const id of [json.id, Bun.randomUUIDv7()])
      writeFileSync(join(folder, bob.id, `${id}.db`), "this was one too".repeat(1_000))
    const checker = createBackupChecker()
    checker.add(await (await ask("?skipDamaged=true")).bytes())
    const { trailer } = checker.end()
    expect([...(trailer.damaged ?? [])].sort()).toEqual(["bob", "bob/notes"])
    rmSync(join(folder, `${bob.id}.db`))
    const { message } = (await api.call("GET", "/v1/backup", { as: api.admin })).json
    expect(message).toStartWith('Cannot back up the database of val "bob/notes": ')
    expect(trailer.sections.find(({ name }) => name === "owner_databases")?.items).toBeGreaterThan(
      0,
    )
    expect(readdirSync(folder).filter((name) => name.startsWith(".backup-"))).toEqual([])
  }, 180_000)

  test("is left to newer nodes once one of them has migrated the database", async () => {
    await database.db.write(function* () {
      yield sql`insert into schema_migrations (version, name, applied_at) values (9999, 'later', 1)`
      yield sql`insert into schema_compatibility (version, works_with) values (9999, 1)`
    })
    try {
      const { status, json } = await api.call("GET", "/v1/backup", { as: api.admin })
      expect([status, json.code]).toEqual([503, "database_unavailable"])
      expect(json.message).toContain("let a node of that version make it")
    } finally {
      await database.db.write(function* () {
        yield sql`delete from schema_compatibility where version = 9999`
        yield sql`delete from schema_migrations where version = 9999`
      })
    }
  })
})

/** Whether a transaction keeps the database from clearing away what is old. */
async function isHeld({ db, path }: TestDatabase): Promise<boolean> {
  if (path === undefined) {
    const open = sql`select pid from pg_stat_activity where datname = current_database() and backend_xmin is not null and pid <> pg_backend_pid()`
    return (await db.read(open)).length > 0
  }
  const other = new Connection(path)
  try {
    const [found] = other.query<{ busy: number }, []>("pragma wal_checkpoint(truncate)").all()
    return found?.busy !== 0
  } finally {
    other.close()
  }
}
