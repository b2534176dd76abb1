import { describe, expect, test } from "bun:test"
import type { Scope } from "@hamlet/contract"
import { expectStatus, openApi, type TestApi, type TestUser } from "../support/api.ts"
import { describeEachDatabase } from "../support/databases.ts"
import { type ApiSuite, describeLibsqlApi, describeSqliteApi, refusalOf } from "./suite.ts"

type Caller = TestUser | string

describeSqliteApi("POST /v1/sqlite/execute and /v1/sqlite/batch", defineSuite, {
  HAMLET_DATA_DIR_SHARED: "yes",
  HAMLET_SQLITE_MB_MAX: "1",
})

describeLibsqlApi("POST /v1/sqlite/execute and /v1/sqlite/batch", defineSuite, {
  HAMLET_SQLITE_MB_MAX: "1",
})

function defineSuite(suite: ApiSuite): void {
  const { call, addUser: person } = suite
  const execute = (as: Caller, statement: unknown, headers = {}) =>
    call("POST", "/v1/sqlite/execute", { as, body: { statement }, headers })
  const batch = (as: Caller, statements: unknown, mode?: string) =>
    call("POST", "/v1/sqlite/batch", { as, body: { statements, mode } })
  const rowsOf = async (as: Caller, statement: unknown) =>
    expectStatus(await execute(as, statement), 200).json.rows

  test("run statements in the caller's database", async () => {
    const [ada, bob] = [await person(), await person()]
    expectStatus(await execute(ada, "create table notes (id integer primary key, text text)"), 200)
    const sql = "insert into notes (text) values (?), (?)"
    expect(expectStatus(await execute(ada, { sql, args: ["first", "second"] }), 200).json).toEqual({
      columns: [],
      columnTypes: [],
      rows: [],
      rowsAffected: 2,
      lastInsertRowid: 2,
    })
    expect(
      expectStatus(
        await execute(ada, { sql: "select * from notes where id = :id", args: { id: 2 } }),
        200,
      ).json,
    ).toEqual({
      columns: ["id", "text"],
      columnTypes: ["INTEGER", "TEXT"],
      rows: [[2, "second"]],
      rowsAffected: 0,
      lastInsertRowid: null,
    })
    const refused = await execute(bob, "select * from notes")
    expect(refusalOf(refused)).toEqual([400, "sql_failed"])
    expect(refused.json.message).toBe("Cannot run the statement: no such table: notes")
  })

  test("refuse nested values of any depth, in a body of any size", async () => {
    const ada = await person()
    for (const levels of [2, 10_000, 100_000]) {
      const statement = `{"sql":"select ?","args":${"[".repeat(levels)}${"]".repeat(levels)}}`
      const one = await call("POST", "/v1/sqlite/execute", {
        as: ada,
        body: `{"statement":${statement}}`,
      })
      const many = await call("POST", "/v1/sqlite/batch", {
        as: ada,
        body: `{"statements":[${statement}]}`,
      })
      expect([refusalOf(one), refusalOf(many)]).toEqual(Array(2).fill([400, "invalid_request"]))
      for (const { json } of [one, many]) expect(json.message).toEndWith("as its args.0")
    }
  })

  test("run a batch atomically", async () => {
    const ada = await person()
    const results = expectStatus(
      await batch(ada, [
        "create table t (a)",
        { sql: "insert into t values (?)", args: [1] },
        "select * from t",
      ]),
      200,
    )
    expect(results.json).toMatchObject([
      { rowsAffected: 0 },
      { rowsAffected: 1 },
      { columns: ["a"], rows: [[1]] },
    ])
    const failed = await batch(ada, ["delete from t", "select * from nowhere"], "write")
    expect([...refusalOf(failed), failed.json.message]).toEqual([
      400,
      "sql_failed",
      "Cannot run statement 2: no such table: nowhere",
    ])
    expect(await rowsOf(ada, "select * from t")).toEqual([[1]])
    const reading = await batch(ada, ["delete from t"], "read")
    expect([...refusalOf(reading), reading.json.message]).toEqual([
      400,
      "sql_failed",
      "Cannot write to the database: the mode of the batch is read",
    ])
    expect(expectStatus(await batch(ada, []), 200).json).toEqual([])
  })

  test("report SQLite's code of a failed statement", async () => {
    const ada = await person()
    expectStatus(await batch(ada, ["create table u (a unique)", "insert into u values (1)"]), 200)
    const failures: readonly (readonly [statement: unknown, code: string | undefined])[] = [
      ["insert into u values (1)", "SQLITE_CONSTRAINT"],
      ["selec 1", "SQLITE_ERROR"],
      ["select * from nowhere", "SQLITE_ERROR"],
      // Refused before SQLite has seen it.
      [{ sql: "select ?", args: [] }, undefined],
    ]
    for (const [statement, code] of failures) {
      for (const response of [await execute(ada, statement), await batch(ada, [statement])])
        expect([...refusalOf(response), response.json.rawCode]).toEqual([400, "sql_failed", code])
    }
    expect((await batch(ada, ["delete from u"], "read")).json.rawCode).toBe("SQLITE_READONLY")
  })

  test("report invalid input", async () => {
    const ada = await person()
    const bodies: readonly (readonly [string, object])[] = [
      ["statement", {}],
      ["statement", { statement: 5 }],
      ["statement", { statement: { sql: "select ?", args: [[1]] } }],
      ["statement", { statement: "" }],
      ["statement", { statement: "select 1\0" }],
    ]
    for (const [path, body] of bodies) {
      const response = await call("POST", "/v1/sqlite/execute", { as: ada, body })
      expect([...refusalOf(response), response.json.issues[0].path]).toEqual([
        400,
        "invalid_request",
        path,
      ])
    }
    const { json } = await batch(ada, ["select 1", { sql: "x", args: { a: {} } }])
    expect(json.message).toStartWith('Cannot accept the request: "statements.1" must have null,')
    expect(
      refusalOf(await call("POST", "/v1/sqlite/batch", { as: ada, body: "nonsense" })),
    ).toEqual([400, "invalid_json"])
  })

  describe("with a token without both scopes", () => {
    const tokenWith = async (user: TestUser, ...scopes: Scope[]) =>
      (
        await suite.api.hamlet.nouns.tokens.issue(user.id, {
          name: "narrow",
          scopes,
          expiresAt: null,
        })
      ).text

    test("read with sqlite:read, and name the missing scope for every kind of write", async () => {
      const ada = await person()
      await batch(ada, ["create table t (a)", "insert into t values (1)"])
      const reader = await tokenWith(ada, "sqlite:read")
      expect(await rowsOf(reader, "select * from t")).toEqual([[1]])
      expect(
        expectStatus(await batch(reader, ["select * from t", "pragma table_info(t)"], "write"), 200)
          .json,
      ).toHaveLength(2)
      const writes = [
        "insert into t values (2)",
        "insert into t values (2) returning a",
        "with x as (select 1) delete from t",
        "drop table t",
      ]
      for (const sql of [...writes, "pragma user_version = 1", "create table u (a)"]) {
        for (const response of [
          await execute(reader, sql),
          await batch(reader, ["select 1", sql]),
          await batch(reader, [sql], "write"),
        ]) {
          expect(refusalOf(response)).toEqual([403, "missing_scope"])
          expect(response.json.message).toContain("required permissions (scope sqlite:write)")
        }
      }
      expect(await rowsOf(ada, "select * from t")).toEqual([[1]])
    })

    test("are refused with sqlite:write only or with neither scope", async () => {
      const ada = await person()
      for (const scopes of [["sqlite:write"], ["val:write", "blob:write"]] as const)
        expect(refusalOf(await execute(await tokenWith(ada, ...scopes), "select 1"))).toEqual([
          403,
          "missing_scope",
        ])
    })
  })

  test("refuse writes over the size limit", async () => {
    const ada = await person()
    expectStatus(await execute(ada, "create table t (a)"), 200)
    const full = await execute(ada, "insert into t values (zeroblob(2000000))")
    expect(refusalOf(full)).toEqual([413, "quota_exceeded"])
    expect(full.json.message).toContain("1048576 bytes")
    expect(await rowsOf(ada, "select count(*) from t")).toEqual([[0]])
    expect((await call("GET", "/v1/me/usage", { as: ada })).json.sqlite).toMatchObject({
      bytesMax: 1_048_576,
    })
  })

  test("execute once per Idempotency-Key, and repeat the response", async () => {
    const ada = await person()
    expectStatus(await execute(ada, "create table t (a)"), 200)
    const send = () =>
      execute(ada, "insert into t values ('é') returning a", { "idempotency-key": "once" })
    const [first, second] = [expectStatus(await send(), 200), expectStatus(await send(), 200)]
    expect(second.text).toBe(first.text)
    expect(first.json.rows).toEqual([["é"]])
    expect(await rowsOf(ada, "select count(*) from t")).toEqual([[1]])
  })

  describe("with an Idempotency-Key whose stored response was lost", () => {
    const once = (as: Caller, key: string, statement: unknown) =>
      execute(as, statement, { "idempotency-key": key })

    /** What is left of the keys of a user when the server is killed before it stores a response. */
    const loseResponses = ({ id }: TestUser) =>
      suite.database.db
        .run`update idempotency_keys set answer = null, expires_at = 0 where user_id = ${id}`

    test("execute once, and repeat the result", async () => {
      const ada = await person()
      expectStatus(await execute(ada, "create table t (a)"), 200)
      const statements = ["insert into t values ('b')", "create table u (a)"]
      for (const send of [
        (key: string) => once(ada, key, "insert into t values ('é') returning a"),
        (key: string) =>
          call("POST", "/v1/sqlite/batch", {
            as: ada,
            body: { statements },
            headers: { "idempotency-key": key },
          }),
      ]) {
        const key = `${"'\"; -- ".repeat(30)}${send.length}`.padEnd(255, "~")
        const first = expectStatus(await send(key), 200)
        for (let again = 0; again < 2; again += 1) {
          await loseResponses(ada)
          expect(expectStatus(await send(key), 200).text).toBe(first.text)
        }
        await suite.database.db.run`delete from idempotency_keys where user_id = ${ada.id}`
      }
      expect(await rowsOf(ada, "select a from t order by a")).toEqual([["b"], ["é"]])
    })

    test("execute once in the database of a val", async () => {
      const ada = await person()
      const { id } = await suite.val(ada)
      const path = `/v2/sqlite/execute?val_id=${id}`
      const send = (statement: string, key: string) =>
        call("POST", path, { as: ada, body: { statement }, headers: { "idempotency-key": key } })
      expectStatus(await send("create table t (a)", "create"), 200)
      for (let again = 0; again < 2; again += 1) {
        expectStatus(await send("insert into t values (1)", "insert"), 200)
        await loseResponses(ada)
      }
      expect((await send("select count(*) from t", "count")).json.rows).toEqual([[1]])
    })

    test("execute once, and say so if the result was too long to be kept", async () => {
      const ada = await person()
      expectStatus(await execute(ada, "create table t (a)"), 200)
      const send = () => once(ada, "long", "insert into t values (hex(zeroblob(5000))) returning a")
      expectStatus(await send(), 200)
      await loseResponses(ada)
      for (let again = 0; again < 2; again += 1) {
        const lost = await send()
        expect(refusalOf(lost)).toEqual([409, "idempotency_result_lost"])
        expect(lost.json.message).toContain("was executed before")
      }
      expect(await rowsOf(ada, "select count(*) from t")).toEqual([[1]])
    })

    test("execute other statements, as after any request that was not completed", async () => {
      const ada = await person()
      expectStatus(await once(ada, "key", "create table t (a)"), 200)
      const other = () => once(ada, "key", "insert into t values (1)")
      expect(refusalOf(await other())).toEqual([422, "idempotency_mismatch"])
      await loseResponses(ada)
      expectStatus(await other(), 200)
      expect(await rowsOf(ada, "select count(*) from t")).toEqual([[1]])
    })

    test("execute once when the request comes eight times at once", async () => {
      const ada = await person()
      expectStatus(await execute(ada, "create table t (a)"), 200)
      const send = () => once(ada, "at once", "insert into t values (1) returning a")
      for (let round = 0; round < 2; round += 1) {
        const responses = await Promise.all(Array.from({ length: 8 }, send))
        const statuses = responses.map(({ status, json }) => (status === 200 ? 200 : json.code))
        expect(statuses).toContain(200)
        expect(new Set([...statuses, 200, "idempotency_in_flight"]).size).toBe(2)
        await loseResponses(ada)
      }
      expect(await rowsOf(ada, "select count(*) from t")).toEqual([[1]])
    })
  })

  test("keep a table of their own out of sight, and create it with a write only", async () => {
    const ada = await person()
    const headers = { "idempotency-key": "key" }
    const tables = "select name from sqlite_schema"
    expectStatus(await execute(ada, tables, headers), 200)
    expect(await rowsOf(ada, tables)).toEqual([])
    expectStatus(await execute(ada, "create table t (a)", { "idempotency-key": "write" }), 200)
    const refused = await execute(ada, "delete from _hamlet_requests")
    expect(refusalOf(refused)).toEqual([400, "sql_failed"])
    expect(refused.json.message).toContain("the table _hamlet_requests is the server's")
  })

  test("count the size of the database", async () => {
    const ada = await person()
    const usage = async () => (await call("GET", "/v1/me/usage", { as: ada })).json.sqlite
    expect(await usage()).toEqual({ bytes: 0, bytesMax: 1_048_576 })
    await batch(ada, ["create table t (a)", "insert into t values (zeroblob(100000))"])
    expect((await usage()).bytes).toBeGreaterThan(100_000)
  })
}

describeEachDatabase("the databases of users", (open) => {
  test("survive a restart, and are refused when each node would have its own", async () => {
    const database = await open()
    const isShared = database.path === undefined
    const first = await openApi(() =>
      Promise.resolve({ ...database, close: () => Promise.resolve() }),
    )
    const ada = await first.addUser("ada")
    const send = (api: TestApi, statement: string) =>
      api.call("POST", "/v1/sqlite/execute", { as: ada, body: { statement } })
    if (isShared) {
      const refused = await send(first, "create table t (a)")
      expect(refusalOf(refused)).toEqual([501, "sqlite_unavailable"])
      expect(refused.json.message).toContain("HAMLET_DATA_DIR_SHARED")
      expect(refused.headers.get("x-should-retry")).toBe("false")
      await first.close()
      return
    }
    expectStatus(await send(first, "create table t (a)"), 200)
    expectStatus(await send(first, "insert into t values (1)"), 200)
    await first.close()
    const second = await openApi(() =>
      Promise.resolve({ ...database, close: () => Promise.resolve() }),
    )
    expect(expectStatus(await send(second, "select * from t"), 200).json.rows).toEqual([[1]])
    await second.close()
  })
})
