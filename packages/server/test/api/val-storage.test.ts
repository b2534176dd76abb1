import { afterAll, describe, expect, test } from "bun:test"
import { sql } from "@hamlet/database"
import { waitUntil } from "@hamlet/kit/testing"
import { AppError } from "../../src/domain/app-error.ts"
import type { StorageHome } from "../../src/domain/storage-home.ts"
import { purgeVals } from "../../src/domain/val-storage.ts"
import { expectStatus, type TestUser, testBaseUrl } from "../support/api.ts"
import { FakeBucket } from "../support/fakes/fake-bucket.ts"
import {
  type ApiSuite,
  describeApi,
  describeLibsqlApi,
  describeSqliteApi,
  refusalOf,
} from "./suite.ts"

const bucket = new FakeBucket()
afterAll(() => bucket.stop())

// 2 MB of databases for each user.
const env = { HAMLET_DATA_DIR_SHARED: "yes", HAMLET_SQLITE_MB_MAX: "2" }
describeApi("storage of vals", defineStorage, env)
describeLibsqlApi("storage of vals", defineDatabases, { HAMLET_SQLITE_MB_MAX: "2" })
// Vals use the routes that the others call: they do so once with each home of blobs and databases.
describeSqliteApi("storage of vals, with a bucket", defineRuns, {
  ...env,
  HAMLET_S3_URL: bucket.url,
})

/** Larger than what is stored in a row. */
const large = "x".repeat(100_000)

function defineStorage(suite: ApiSuite): void {
  describe("/v2/blob", () => defineBlobs(suite))
  describe("/v2/sqlite", () => defineSqlite(suite))
  describe("of a deleted val", () => defineDeletion(suite))
}

function defineDatabases(suite: ApiSuite): void {
  describe("/v2/sqlite", () => defineSqlite(suite))
  describe("in a val", () => defineRuns(suite))
  describe("of a deleted val", () => defineDeletion(suite))
}

function defineBlobs(suite: ApiSuite): void {
  const { call, addUser, val } = suite

  test("has the blobs of one val, apart from those of the account and of other vals", async () => {
    const ada = await addUser()
    const [one, two] = [await val(ada), await val(ada)]
    const put = (path: string, body: string) => call("POST", path, { as: ada, body })
    expect((await put(`/v2/blob/a%2Fb?val_id=${one.id}`, "one")).json).toBe("ok")
    expectStatus(await put(`/v2/blob/a/b?val_id=${two.id}`, large), 201)
    expectStatus(await put("/v1/blob/a/b", "account"), 201)
    const get = async (path: string) => (await call("GET", path, { as: ada })).text
    expect(await get(`/v2/blob/a/b?val_id=${one.id}`)).toBe("one")
    expect(await get(`/v2/blob/a%2Fb?val_id=${two.id}`)).toBe(large)
    expect(await get("/v1/blob/a/b")).toBe("account")
    expectStatus(await call("DELETE", `/v2/blob/a/b?val_id=${one.id}`, { as: ada }), 204)
    const gone = await call("GET", `/v2/blob/a/b?val_id=${one.id}`, { as: ada })
    expect([...refusalOf(gone), gone.json.message]).toEqual([
      404,
      "blob_not_found",
      'Cannot find blob "a/b": the val has none with that key',
    ])
    expect(await get(`/v2/blob/a/b?val_id=${two.id}`)).toBe(large)
  })

  test("lists keys with a prefix, and links to the next page", async () => {
    const ada = await addUser()
    const { id } = await val(ada)
    for (const key of ["b/2", "b/1", "a"])
      await call("POST", `/v2/blob/${key}?val_id=${id}`, { as: ada, body: "12" })
    const path = `/v2/blob?prefix=b/&limit=1&val_id=${id}`
    const first = expectStatus(await call("GET", path, { as: ada }), 200)
    expect(first.json).toEqual([{ key: "b/1", size: 2, lastModified: expect.any(String) }])
    const [, next = ""] = /^<(.*)>; rel="next"$/.exec(first.headers.get("link") ?? "") ?? []
    expect(next).toStartWith(`${testBaseUrl}/v2/blob?`)
    const second = await call("GET", next.slice(testBaseUrl.length), { as: ada })
    expect(second.json.map(({ key }: { key: string }) => key)).toEqual(["b/2"])
    expect(second.headers.get("link")).toBeNull()
  })

  test("counts in the quota and the usage of the owner", async () => {
    const ada = await addUser()
    const quota = { as: suite.api.admin, body: { blobBytes: 150_000 } }
    expectStatus(await call("PUT", `/v1/users/${ada.id}/quotas`, quota), 200)
    const { id } = await val(ada)
    expectStatus(await call("POST", `/v2/blob/a?val_id=${id}`, { as: ada, body: large }), 201)
    for (const path of ["/v1/blob/b", `/v2/blob/b?val_id=${id}`])
      expect(refusalOf(await call("POST", path, { as: ada, body: large }))).toEqual([
        413,
        "quota_exceeded",
      ])
    const { json } = await call("GET", "/v1/me/usage", { as: ada })
    expect(json.blobs).toMatchObject({ count: 1, bytes: 100_000 })
  })

  test("needs the val of the caller, whichever method it is", async () => {
    const [ada, bob] = [await addUser(), await addUser()]
    const [shown, hidden] = [await val(ada), await val(ada, { privacy: "private" })]
    const body = { statement: "select 1", statements: ["select 1"] }
    const requests = [
      ["GET", "/v2/blob", undefined],
      ["GET", "/v2/blob/a", undefined],
      ["POST", "/v2/blob/a", "x"],
      ["DELETE", "/v2/blob/a", undefined],
      ["POST", "/v2/sqlite/execute", body],
      ["POST", "/v2/sqlite/batch", body],
    ] as const
    const refuse = async (query: string, as: TestUser | string) =>
      Promise.all(
        requests.map(async ([method, path, sent]) =>
          refusalOf(await call(method, `${path}${query}`, { as, ...(sent ? { body: sent } : {}) })),
        ),
      )
    const all = (status: number, code: string) => requests.map(() => [status, code] as const)
    // Without a val, the token of a user means the blobs of the account.
    expect((await refuse("", ada)).slice(-2)).toEqual([
      [400, "invalid_request"],
      [400, "invalid_request"],
    ])
    expect(await refuse("?val_id=x", ada)).toEqual(all(400, "invalid_request"))
    expect(await refuse(`?val_id=${hidden.id}`, bob)).toEqual(all(404, "val_not_found"))
    expect(await refuse(`?val_id=${shown.id}`, bob)).toEqual(all(403, "not_owner"))
    expect(await refuse(`?val_id=${ada.id}`, ada)).toEqual(all(404, "val_not_found"))
    const { runTokens } = suite.api.hamlet.parts.accounts
    const other = await val(ada)
    expect(await refuse(`?val_id=${other.id}`, runTokens.issue(ada, shown.id))).toEqual(
      all(404, "val_not_found"),
    )
    // The token of a val that was deleted meanwhile, and of code that was never saved.
    expect(await refuse("", runTokens.issue(ada, crypto.randomUUID()))).toEqual(
      all(404, "val_not_found"),
    )
    expect(await refuse("", runTokens.issue(ada))).toEqual(all(400, "invalid_request"))
  })

  test("takes keys literally", async () => {
    const ada = await addUser()
    const [one, two] = [await val(ada), await val(ada)]
    await call("POST", `/v2/blob/secret?val_id=${two.id}`, { as: ada, body: "two" })
    for (const key of [`..%2F${two.id}%2Fsecret`, `${two.id}/secret`, "%2E%2E%2Fsecret", "%00"]) {
      const path = `/v2/blob/${key}?val_id=${one.id}`
      expect([400, 404]).toContain((await call("GET", path, { as: ada })).status)
      expect([400, 404]).toContain((await call("DELETE", path, { as: ada })).status)
    }
    expect((await call("GET", `/v2/blob/secret?val_id=${two.id}`, { as: ada })).text).toBe("two")
  })
}

function defineSqlite(suite: ApiSuite): void {
  const { call, addUser, val } = suite
  const execute = (as: TestUser | string, valId: string | undefined, statement: unknown) => {
    const path = valId === undefined ? "/v1/sqlite/execute" : `/v2/sqlite/execute?val_id=${valId}`
    return call("POST", path, { as, body: { statement } })
  }

  test("is a database of one val, apart from the account's and those of other vals", async () => {
    const ada = await addUser()
    const [one, two] = [(await val(ada)).id, (await val(ada)).id]
    for (const id of [one, undefined]) {
      expectStatus(await execute(ada, id, "create table t (a)"), 200)
      expectStatus(await execute(ada, id, `insert into t values ('${id ?? "account"}')`), 200)
    }
    expect((await execute(ada, one, "select a from t")).json.rows).toEqual([[one]])
    expect((await execute(ada, undefined, "select a from t")).json.rows).toEqual([["account"]])
    expect((await execute(ada, two, "select a from t")).json.message).toContain("no such table: t")
    const batch = { as: ada, body: { statements: ["insert into t values (1)", "select x"] } }
    expect(refusalOf(await call("POST", `/v2/sqlite/batch?val_id=${one}`, batch))).toEqual([
      400,
      "sql_failed",
    ])
    expect((await execute(ada, one, "select count(*) from t")).json.rows).toEqual([[1]])
  })

  test("cannot attach the database of another val", async () => {
    const ada = await addUser()
    const [one, two] = [(await val(ada)).id, (await val(ada)).id]
    expectStatus(await execute(ada, two, "create table secret (a)"), 200)
    for (const path of [`${two}.db`, `../${two}.db`, `../${ada.id}/${two}.db`, `../${ada.id}.db`])
      for (const sql of [`attach '${path}' as x`, `vacuum into '${path}'`])
        expect(refusalOf(await execute(ada, one, sql))).toEqual([400, "sql_failed"])
    expect((await execute(ada, two, "select count(*) from secret")).json.rows).toEqual([[0]])
  })

  test("is written with sqlite:write only, and once per Idempotency-Key", async () => {
    const ada = await addUser()
    const { id } = await val(ada)
    const { tokens } = suite.api.hamlet.nouns
    const chosen = { name: "reader", scopes: ["sqlite:read"] as const, expiresAt: null }
    const { text: reader } = await tokens.issue(ada.id, chosen)
    expect(refusalOf(await execute(reader, id, "create table t (a)"))).toEqual([
      403,
      "missing_scope",
    ])
    expectStatus(await execute(ada, id, "create table t (a)"), 200)
    const insert = () =>
      call("POST", `/v2/sqlite/execute?val_id=${id}`, {
        as: ada,
        headers: { "idempotency-key": "once" },
        body: { statement: "insert into t values (1)" },
      })
    expect((await insert()).json).toEqual((await insert()).json)
    // Another val with the same key and statement is another request.
    const { runTokens } = suite.api.hamlet.parts.accounts
    const sent = {
      headers: { "idempotency-key": "twice" },
      body: { statement: "create table own (a)" },
    }
    for (const [as, status] of [
      [runTokens.issue(ada, id), 200],
      [runTokens.issue(ada, (await val(ada)).id), 422],
    ] as const)
      expectStatus(await call("POST", "/v2/sqlite/execute", { as, ...sent }), status)
    expect((await execute(reader, id, "select count(*) from t")).json.rows).toEqual([[1]])
  })

  test("shares the quota of the owner with the other databases", async () => {
    const ada = await addUser()
    const [one, two] = [(await val(ada)).id, (await val(ada)).id]
    const fill = "insert into t values (zeroblob(1200000))"
    for (const id of [one, two, undefined])
      expectStatus(await execute(ada, id, "create table t (a)"), 200)
    expectStatus(await execute(ada, one, fill), 200)
    for (const id of [two, undefined]) {
      const refused = await execute(ada, id, fill)
      expect([...refusalOf(refused), refused.json.message]).toEqual([
        413,
        "quota_exceeded",
        "Cannot write to the database: your databases would have more than 2097152 bytes in total",
      ])
    }
    const { json } = await call("GET", "/v1/me/usage", { as: ada })
    expect(json.sqlite.bytes).toBeGreaterThan(1_200_000)
    // What one gives back, the other may take.
    const emptied = { as: ada, body: { statements: ["drop table t"] } }
    expectStatus(await call("POST", `/v2/sqlite/batch?val_id=${one}`, emptied), 200)
    await suite.api.hamlet.parts.userData.ownerDatabases.remove({ ownerId: ada.id, valId: one })
    // Sizes are read again a moment later.
    await waitUntil(async () => (await execute(ada, two, fill)).status === 200)
  })
}

/** A val whose calls read and write what it stores. */
const storingCode = `import { blob } from "https://esm.town/v/std/blob/main.ts"
  import { sqlite } from "/std/sqlite/main.ts"
  import { blob as shared } from "https://esm.town/v/std/blob/global.ts"
  import { sqlite as sharedSqlite } from "https://esm.town/v/std/sqlite2@4-main/main.ts"
  export default async (text, size) => {
    await sqlite.execute("create table if not exists t (text)")
    if (text !== undefined) {
      await blob.set("text", text.repeat(size))
      await shared.set("shared", text)
      await sqlite.execute("insert into t values (?)", [text])
    }
    const stored = await blob.get("text").then((it) => it.text(), (error) => error.name)
    const { rows } = await sqlite.execute("select text from t")
    const { rows: [{ tables }] } = await sharedSqlite.execute("select count(*) as tables from sqlite_master")
    return [stored.slice(0, 40), stored.length, (await blob.list()).length, rows, (await shared.list()).length, tables]
  }`

function defineRuns(suite: ApiSuite): void {
  const { call, addUser, val } = suite
  const run = async (as: TestUser, id: string, body: object = {}) => {
    const ended = expectStatus(await call("POST", `/v1/vals/${id}/runs`, { as, body }), 200).json
    return ended.error ?? ended.returnValue
  }

  test("belongs to the val that runs, on all its branches, and not to a fork", async () => {
    const ada = await addUser()
    const code = { code: storingCode }
    const [one, two] = [await val(ada, code), await val(ada, code)]
    const stored = ["one".repeat(14).slice(0, 40), 300_000, 1, [{ text: "one" }], 1, 0]
    expect(await run(ada, one.id, { args: ["one", 100_000] })).toEqual(stored)
    const nothing = ["ValTownBlobNotFoundError", 24, 0, [], 1, 0]
    expect(await run(ada, two.id)).toEqual(nothing)
    const branch = { as: ada, body: { name: "try" } }
    expectStatus(await call("POST", `/v2/vals/${one.id}/branches`, branch), 201)
    expect(await run(ada, one.id, { branch: "try" })).toEqual(stored)
    const fork = { as: ada, body: {} }
    const { json: forked } = await call("POST", `/v1/vals/${one.id}/fork`, fork)
    expect(await run(ada, forked.id)).toEqual(nothing)
    // Neither a new name nor a new privacy moves the storage of a val.
    const renamed = { as: ada, body: { name: "renamed", privacy: "private" } }
    expectStatus(await call("PUT", `/v1/vals/${one.id}`, renamed), 204)
    expect(await run(ada, one.id)).toEqual(stored)
    // The owner reaches it from outside.
    const read = await call("GET", `/v2/blob/text?val_id=${one.id}`, { as: ada })
    expect(read.text).toBe("one".repeat(100_000))
  })

  test("takes every write of a run that has an Idempotency-Key", async () => {
    const ada = await addUser()
    const code = `import { sqlite } from "/std/sqlite/main.ts"
      export default async (count) => {
        await sqlite.execute("create table if not exists t (a)")
        for (let index = 0; index < count; index++) await sqlite.execute("insert into t values (1)")
        const { rows: [[sum]] } = await sqlite.execute("select count(*) from t")
        return sum
      }`
    const { id } = await val(ada, { code })
    const runs: unknown[] = []
    for (const key of ["one", "one", "two"]) {
      const headers = { "idempotency-key": key }
      const sent = await call("POST", `/v1/vals/${id}/runs`, {
        as: ada,
        body: { args: [3] },
        headers,
      })
      runs.push(expectStatus(sent, 200).json.error ?? sent.json.returnValue)
    }
    expect(runs).toEqual([3, 3, 6])
  })

  test("is that of the val that runs, also in the modules that it imports", async () => {
    const ada = await addUser()
    const library = await val(ada, { code: storingCode, name: "library" })
    const user = await val(ada, {
      code: `export { default } from "${testBaseUrl}/v/${ada.username}/library"`,
    })
    expect(await run(ada, user.id, { args: ["user", 1] })).toMatchObject({ 0: "user", 2: 1 })
    expect(await run(ada, library.id)).toMatchObject({ 0: "ValTownBlobNotFoundError", 2: 0 })
  })

  test("is out of reach of other vals, whatever they send", async () => {
    const [ada, bob] = [await addUser(), await addUser()]
    const theirs = await val(ada, { code: storingCode })
    await run(ada, theirs.id, { args: ["hush", 1] })
    const code = `export default async (id) => {
      const headers = { authorization: "Bearer " + Deno.env.get("HAMLET_TOKEN") }
      const ask = async (path, init) => {
        const response = await fetch(Deno.env.get("HAMLET_URL") + path, { headers, ...init })
        return [response.status, (await response.json()).code]
      }
      const body = JSON.stringify({ statement: "select text from t" })
      return [
        await ask("/v2/blob/text?val_id=" + id),
        await ask("/v2/blob/text?val_id=" + id, { method: "POST", body: "x" }),
        await ask("/v2/blob?val_id=" + id),
        await ask("/v2/blob/..%2F" + id + "%2Ftext"),
        await ask("/v2/sqlite/execute?val_id=" + id, { method: "POST", body }),
        await ask("/v2/sqlite/execute", { method: "POST", body: JSON.stringify({ statement: "attach '" + id + ".db' as x" }) }),
      ]
    }`
    for (const thief of [ada, bob]) {
      const { id } = await val(thief, { code })
      const refused = [404, "val_not_found"]
      expect(await run(thief, id, { args: [theirs.id] })).toEqual([
        refused,
        refused,
        refused,
        [404, "blob_not_found"],
        refused,
        [400, "sql_failed"],
      ])
    }
  })

  test("means the blobs of the account for a user who names no val", async () => {
    const ada = await addUser()
    expectStatus(await call("POST", "/v2/blob/a%2Fb", { as: ada, body: "12" }), 201)
    expect((await call("GET", "/v1/blob/a%2Fb", { as: ada })).text).toBe("12")
    expect((await call("GET", "/v2/blob?prefix=a", { as: ada })).json).toMatchObject([
      { key: "a/b" },
    ])
    const { id } = await val(ada)
    expect((await call("GET", `/v2/blob?val_id=${id}`, { as: ada })).json).toEqual([])
    expectStatus(await call("DELETE", "/v2/blob/a%2Fb", { as: ada }), 204)
    expect((await call("GET", "/v1/blob", { as: ada })).json).toEqual([])
  })

  test("is not there for code that is not saved", async () => {
    const code = `import { blob } from "/std/blob/main.ts"; export default () => blob.list()`
    const { json } = await call("POST", "/v1/eval", { as: await addUser(), body: { code } })
    expect(JSON.stringify(json)).toContain("val_id")
  })
}

function defineDeletion(suite: ApiSuite): void {
  const { call, addUser, val } = suite
  const keep = async (as: TestUser, id: string) => {
    for (const [key, body] of [
      ["small", "12345"],
      ["large", large],
    ] as const)
      expectStatus(await call("POST", `/v2/blob/${key}?val_id=${id}`, { as, body }), 201)
    const statement = { as, body: { statement: "create table t (a)" } }
    expectStatus(await call("POST", `/v2/sqlite/execute?val_id=${id}`, statement), 200)
  }
  /** Purges deleted vals as housekeeping does, perhaps at the same time. */
  const purge = async () => {
    const { parts, stores } = suite.api.hamlet
    const { ownerDatabases } = parts.userData
    while (await purgeVals({ valPurges: stores.valPurges, ownerDatabases, now: Date.now }));
  }
  const usageOf = async (as: TestUser) => {
    const { blobs, sqlite } = (await call("GET", "/v1/me/usage", { as })).json
    return [blobs.count, blobs.bytes, sqlite.bytes > 0]
  }

  test("is deleted by housekeeping, and frees the quota of its owner", async () => {
    const ada = await addUser()
    const [gone, kept] = [await val(ada), await val(ada)]
    await keep(ada, gone.id)
    expectStatus(await call("POST", `/v2/blob/a?val_id=${kept.id}`, { as: ada, body: "1" }), 201)
    expect(await usageOf(ada)).toEqual([3, 100_006, true])
    expectStatus(await call("DELETE", `/v2/vals/${gone.id}`, { as: ada }), 204)
    expect(refusalOf(await call("GET", `/v2/blob/small?val_id=${gone.id}`, { as: ada }))).toEqual([
      404,
      "val_not_found",
    ])
    await purge()
    expect(await usageOf(ada)).toEqual([1, 1, false])
  })

  test("is not created again by a request that had found the val or the user before", async () => {
    const ada = await addUser()
    const { id: valId } = await val(ada)
    const { accounts, userData } = suite.api.hamlet.parts
    const caller = await accounts.tokens.authenticate(ada.token)
    const [home, ofVal] = [{ ownerId: ada.id }, { ownerId: ada.id, valId }]
    const create = { sql: "create table t (a)", args: [] }
    const refusals = async (home: StorageHome) => [
      await codeOf(userData.sqlite.execute(caller, home, create)),
      await codeOf(userData.uploads.put(home, lateBlob("12345"))),
      await codeOf(userData.uploads.put(home, lateBlob(large))),
    ]
    const noVal = Array.from({ length: 3 }, () => "val_not_found")
    expectStatus(await call("DELETE", `/v2/vals/${valId}`, { as: ada }), 204)
    expect(await refusals(ofVal)).toEqual(noVal)
    expect(await usageOf(ada)).toEqual([0, 0, false])
    const path = `/v1/users/${ada.id}?data=delete`
    expectStatus(await call("DELETE", path, { as: suite.api.admin }), 204)
    expect(await refusals(home)).toEqual(Array.from({ length: 3 }, () => "user_suspended"))
    expect(await refusals(ofVal)).toEqual(noVal)
    expect(await userData.ownerDatabases.sizeOf(ada.id)).toBe(0)
  })

  test("is deleted with the account of its owner", async () => {
    const ada = await addUser()
    const { id } = await val(ada)
    await keep(ada, id)
    const path = `/v1/users/${ada.id}?data=delete`
    expectStatus(await call("DELETE", path, { as: suite.api.admin }), 204)
    await purge()
    const { ownerDatabases } = suite.api.hamlet.parts.userData
    expect(await ownerDatabases.sizeOf(ada.id)).toBe(0)
    const left = sql`select key from val_blobs where val_id = ${id}`
    expect(await suite.database.db.read(left)).toEqual([])
  })
}

function lateBlob(text: string) {
  const bytes = Buffer.from(text)
  const content = {
    length: bytes.length,
    bytes: async () => bytes,
    async *stream() {
      yield bytes
    },
  }
  return { key: "a", contentType: null, content }
}

async function codeOf(act: Promise<unknown>): Promise<unknown> {
  return act.then(
    () => undefined,
    (error) => (error instanceof AppError ? error.code : error),
  )
}
