import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test"
import { stat } from "node:fs/promises"
import { join } from "node:path"
import { sql } from "@hamlet/database"
import { createBucketContent } from "../../src/storage/blobs/s3-objects.ts"
import { expectStatus, openApi, type TestApi, type TestUser, testBaseUrl } from "../support/api.ts"
import { createSampleData, type SampleData } from "../support/data/sample-data.ts"
import { describeEachDatabase, type TestDatabase } from "../support/databases.ts"
import { FakeBucket } from "../support/fakes/fake-bucket.ts"
import { type BackupSection, craftBackup, owners, user, userId, users } from "./craft-backup.ts"
import { type RouteValues, readAllRoutes } from "./read-all-routes.ts"
import { createRestoreTarget, otherThan, type RestoreTarget, takeBackup } from "./restore-target.ts"

const fox = "🦊 ünï\u2028code \uFFFD"
const blobs = { small: 10, "a/b c": 65_536, large: 300_000, "very/large": 900_001 }
const shared = { HAMLET_DATA_DIR_SHARED: "yes" }

describeEachDatabase("backup and restore", (open) => {
  const bucket = new FakeBucket()
  let api: TestApi
  let database: TestDatabase
  let data: SampleData
  let branchId: string
  const places: RestoreTarget[] = []
  const apis: TestApi[] = []

  beforeAll(async () => {
    api = await openApi(async (options) => {
      database = await open(options)
      return database
    }, shared)
    data = await createSampleData(api, testBaseUrl)
    await enrich(api, database, data)
    const path = `/v2/vals/${data.library.id}`
    const as = data.ada
    const made = await api.call("POST", `${path}/branches`, { as, body: { name: "try" } })
    branchId = made.json.id
    const file = { as, body: { type: "file", content: fox } }
    await api.call("POST", `${path}/files?path=a/b.txt&branch_id=${branchId}`, file)
    await api.call("PUT", `/v1/vals/${data.library.id}`, {
      as,
      body: { description: fox, imageUrl: "data:image/png;base64,iVBORw0KGgo=" },
    })
  })
  afterEach(async () => {
    for (const one of apis.splice(0)) await one.close()
    for (const place of places.splice(0)) await place.remove()
  })
  afterAll(async () => {
    await api.close()
    await bucket.stop()
  })

  const kindOf = (kind: "same" | "other") =>
    kind === "other" ? otherThan(database.db.dialect.name) : toKind(database.db.dialect.name)
  const restoreTo = async (
    bytes: Uint8Array,
    kind: "same" | "other",
    env: Record<string, string> = {},
    options?: Parameters<RestoreTarget["restore"]>[1],
  ) => {
    const target = await createRestoreTarget(kindOf(kind))
    places.push(target)
    await target.restore(bytes, options)
    const opened = await openApi(target.open, { HAMLET_DATA_DIR: target.folder, ...shared, ...env })
    const restored: TestApi = { ...opened, admin: api.admin }
    apis.push(restored)
    return { restored, target }
  }
  const walk = (from: TestApi) =>
    readAllRoutes(
      from,
      [api.admin, data.ada, data.bob, undefined],
      poolsOf(api, data, branchId),
      data.library.id,
    )

  test("a server that moved to the other database and back responds to every GET as before", async () => {
    // The way back is the way there of the other database.
    if (database.url !== undefined) return
    const before = await walk(api)
    const { restored: moved } = await restoreTo((await takeBackup(api)).bytes, "other")
    expect(differences(before, await walk(moved))).toEqual([])
    expect(before.size).toBeGreaterThan(300)
    const { restored: back } = await restoreTo((await takeBackup(moved)).bytes, "same")
    expect(differences(before, await walk(back))).toEqual([])
  }, 240_000)

  test("secrets stay encrypted, databases of users keep their row ids, and a run in flight is crashed", async () => {
    const id = Bun.randomUUIDv7()
    await database.db.write(function* () {
      yield sql`insert into runs (id, val_id, version, account_id, owner_id, node_id, source, status, started_at)
        select ${id}, ${data.library.id}, 2, ${data.ada.id}, ${data.ada.id}, id, 'api', 'running', ${Date.now()} from nodes limit 1`
    })
    const { bytes, summary } = await takeBackup(api)
    const { restored, target } = await restoreTo(bytes, "other")

    expect(summary.trailer.sections.find(({ name }) => name === "secrets")?.items).toBe(2)
    const [row] = await restored.hamlet.stores.secrets.listSealed(data.ada.id)
    expect(row).toBeDefined()
    expect(Buffer.from(bytes).includes("hush")).toBe(false)

    const run = (statement: string) =>
      restored.call("POST", "/v1/sqlite/execute", { as: data.ada, body: { statement } })
    expect(
      expectStatus(await run("select rowid, text from notes order by rowid"), 200).json.rows,
    ).toEqual([
      [1, "one"],
      [7, fox],
    ])
    expectStatus(await run("insert into notes (text) values ('more')"), 200)
    expect((await stat(join(target.folder, "sqlite", `${data.ada.id}.db`))).mode & 0o077).toBe(0)
    const ofVal = { as: data.ada, body: { statement: "select text from kept" } }
    const path = `/v2/sqlite/execute?val_id=${data.library.id}`
    expect(expectStatus(await restored.call("POST", path, ofVal), 200).json.rows).toEqual([[fox]])

    // A run that was going on has crashed, as after a restart.
    const stateOn = async (server: TestApi) => {
      const { json } = await server.call("GET", `/v1/runs/${id}`, { as: data.ada })
      return [json.status, json.error?.name]
    }
    expect(await stateOn(restored)).toEqual(["crashed", "ServerDied"])
    expect(await stateOn(api)).toEqual(["running", undefined])
    await database.db.write(function* () {
      yield sql`delete from runs where id = ${id}`
    })
  })

  test("large blobs move into a bucket and out of it, and objects that a bucket has lost are named", async () => {
    const place = createBucketContent(bucket.bucket, 10_000_000)
    const { restored, target } = await restoreTo(
      (await takeBackup(api)).bytes,
      "other",
      { HAMLET_S3_URL: bucket.url },
      { bucket: place },
    )
    // The bucket has the objects of the account and of a val.
    expect(bucket.files.size).toBe(4)
    const forgetful = await openApi(target.open, { HAMLET_DATA_DIR: target.folder })
    apis.push(forgetful)
    const refused = await forgetful.call("GET", "/v1/backup", { as: api.admin })
    expect([refused.status, refused.json.code]).toEqual([503, "storage_unavailable"])
    const { restored: back } = await restoreTo((await takeBackup(restored)).bytes, "same")
    for (const [key, size] of Object.entries(blobs))
      expect(Buffer.compare(await readBlob(back, data.ada, key), toContent(key, size))).toBe(0)
    bucket.files.delete([...bucket.files.keys()][0] ?? "")
    const { bytes, summary } = await takeBackup(restored)
    expect(summary.trailer.missing).toHaveLength(1)
    const { restored: poorer } = await restoreTo(bytes, "same")
    const responses = await Promise.all(
      ["/v1/blob/KEY", `/v2/blob/KEY?val_id=${data.library.id}`].flatMap((path) =>
        ["large", "very/large"].map((key) =>
          poorer.call("GET", path.replace("KEY", key), { as: data.ada }),
        ),
      ),
    )
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 200, 200, 503])
  })

  test("a file that does not fit leaves the database empty, and the next file is restored", async () => {
    const place = await createRestoreTarget(kindOf("same"))
    places.push(place)
    const like = {
      name: "likes",
      columns: ["user_id", "val_id", "created_at"],
      frames: [{ items: 1, json: [[userId, userId, 1]] }],
    }
    const wrong: readonly (readonly BackupSection[])[] = [
      [users([user(userId), user(userId)])],
      [users([user(userId), user("no id")])],
      [users([user(userId)]), like],
      [users([user(userId)]), owners(Bun.randomUUIDv7())],
    ]
    for (const parts of wrong) {
      const refusal = await place.restore(craftBackup(parts)).catch((error: Error) => error.name)
      expect(["RestoreRefused", "BackupDamaged"]).toContain(String(refusal))
    }
    const { sections } = await place.restore((await takeBackup(api)).bytes)
    expect(sections.users).toBe(3)
    expect(await place.restore(craftBackup([])).catch((error: Error) => error.message)).toContain(
      "a restore needs an empty server",
    )
  })

  test("no object is deleted from the bucket during a backup", async () => {
    const { restored } = await restoreTo(
      (await takeBackup(api)).bytes,
      "same",
      { HAMLET_S3_URL: bucket.url },
      { bucket: createBucketContent(bucket.bucket, 10_000_000) },
    )
    const running = await restored.hamlet.nouns.backups.open()
    const before = bucket.files.size
    await restored.hamlet.stores.blobs.remove({ ownerId: data.ada.id }, "large", 1)
    while (await restored.hamlet.stores.objects.purge(Date.now()));
    expect(bucket.files.size).toBe(before)
    for (let piece = await running.read(); piece; ) piece = await running.read()
  })
})

describe("readAllRoutes", () => {
  test("shows differences", () => {
    const [one, other] = [
      new Map([
        ["a", "1"],
        ["b", "2"],
      ]),
      new Map([
        ["a", "1"],
        ["b", "3"],
      ]),
    ]
    expect(differences(one, other)).toEqual(["b\n  2\n  3"])
  })
})

function toKind(name: string): "SQLite" | "PostgreSQL" {
  return name === "SQLite" ? "SQLite" : "PostgreSQL"
}

function differences(
  one: ReadonlyMap<string, string>,
  other: ReadonlyMap<string, string>,
): readonly string[] {
  const keys = new Set([...one.keys(), ...other.keys()])
  return [...keys]
    .filter((key) => one.get(key) !== other.get(key))
    .map((key) => `${key}\n  ${one.get(key)}\n  ${other.get(key)}`)
}

/** What the small neighbourhood lacks. */
async function enrich(
  api: TestApi,
  { db }: TestDatabase,
  { ada, bob, library, emailId }: SampleData,
): Promise<void> {
  const call = async (method: string, path: string, as: TestUser, body: unknown, status: number) =>
    expectStatus(await api.call(method, path, { as, body }), status)
  const hidden = await call(
    "POST",
    "/v1/vals",
    ada,
    { name: "hidden", code: `// ${fox}\nexport default 2`, privacy: "private", readme: fox },
    200,
  )
  // On main, and paused on a branch.
  // An import does not run at once, as a new schedule does.
  const job = { path: "jobs/job.ts", type: "interval", content: fox }
  const changes = { changes: [job], isImport: true }
  await call("POST", `/v1/vals/${hidden.json.id}/files`, ada, changes, 200)
  await call("POST", `/v2/vals/${hidden.json.id}/branches`, ada, { name: "dev" }, 201)
  await call("POST", "/v1/vals", bob, { name: "quiet", code: "3", privacy: "unlisted" }, 200)
  await call("POST", "/v1/me/tokens", ada, { name: "another", scopes: ["val:read"] }, 200)
  for (const [key, size] of Object.entries(blobs))
    for (const path of ["/v1/blob/KEY", `/v2/blob/KEY?val_id=${library.id}`])
      expectStatus(
        await api.call("POST", path.replace("KEY", encodeURIComponent(key)), {
          as: ada,
          body: toContent(key, size),
          headers: { "content-type": `x/${size}` },
        }),
        201,
      )
  for (const statement of ["create table kept (text)", `insert into kept values ('${fox}')`])
    await call("POST", `/v2/sqlite/execute?val_id=${library.id}`, ada, { statement }, 200)
  for (const statement of [
    "create table notes (text)",
    "insert into notes (rowid, text) values (1, 'one'), (5, 'gone')",
    `insert into notes (rowid, text) values (7, '${fox}')`,
    "delete from notes where rowid = 5",
  ])
    await call("POST", "/v1/sqlite/execute", ada, { statement }, 200)
  await db.write(function* () {
    // One that waits would not be restored as it is.
    yield sql`update emails set status = 'failed', next_attempt_at = null, ended_at = ${Date.now()} where id = ${emailId}`
    const resolution = JSON.stringify({ packages: [] })
    yield sql`insert into bundles (hash, created_at, code, cache) values ('h1', 5, ${Buffer.from([0, 1, 255, 13, 10])}, null)`
    yield sql`insert into bundle_files (bundle_hash, content) values ('h1', ${Buffer.from([255, 0, 10])})`
    yield sql`insert into bundle_types (bundle_hash, content) values ('h1', ${Buffer.from([10, 0, 254])})`
    yield sql`insert into locks (branch_id, version, owner_id, state, attempts, fence, updated_at, bundle_hash, resolution)
      select id, 2, owner_id, 'ready', 1, 5, 6, 'h1', ${resolution} from vals where id = ${library.id}`
  })
}

function toContent(key: string, size: number): Buffer {
  return Buffer.alloc(size, `${key}\0\xff`, "latin1")
}

async function readBlob(api: TestApi, user: TestUser, key: string): Promise<Buffer> {
  const headers = { authorization: `Bearer ${user.token}` }
  const response = await api.hamlet.app.request(
    `${testBaseUrl}/v1/blob/${encodeURIComponent(key)}`,
    { headers },
  )
  return Buffer.from(await response.bytes())
}

function poolsOf(api: TestApi, data: SampleData, branchId: string): RouteValues {
  return {
    val_id: [data.library.id, ...data.importers.map(({ id }) => id)],
    branch_id: [data.library.id, branchId],
    file_id: [data.library.id],
    org_id: [data.ada.id],
    user_id: [api.admin.id, data.ada.id, data.bob.id],
    username: ["ada", "bob"],
    val_name: ["library", "hidden", "quiet", "firstImporter", "library@1"],
    version: [1, 2],
    run_id: data.runs.map(({ id }) => id),
    email_id: [data.emailId],
    webhook_id: [data.webhookId],
    // Deliveries are not in a backup.
    delivery_id: [data.ada.id],
    module: ["blob", "sqlite"],
    file_path: ["main.tsx"],
    name: data.secrets,
    key: Object.keys(blobs),
  }
}
