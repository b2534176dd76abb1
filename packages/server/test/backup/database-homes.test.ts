import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { hasLibsql, type LibsqlProcess, startLibsql } from "@hamlet/owner-databases/testing"
import { expectStatus, openApi, type TestApi, type TestUser } from "../support/api.ts"
import { createRestoreTarget, type RestoreTarget, takeBackup } from "./restore-target.ts"

const fox = "🦊 ünï\u2028code"

describe.if(hasLibsql("backups of both homes"))("a backup of the databases of users", () => {
  let server: LibsqlProcess
  const targets: RestoreTarget[] = []
  const apis: TestApi[] = []
  beforeAll(async () => {
    server = await startLibsql()
  })
  afterAll(async () => {
    for (const api of apis) await api.close()
    for (const target of targets) await target.remove()
    await server[Symbol.asyncDispose]()
  })

  const restore = async (bytes: Uint8Array, isOnLibsql: boolean) => {
    const target = await createRestoreTarget("SQLite")
    targets.push(target)
    await target.restore(bytes, isOnLibsql ? { libsql: server.options } : {})
    const api = await openApi(target.open, {
      HAMLET_DATA_DIR: target.folder,
      ...(isOnLibsql ? server.env : {}),
    })
    apis.push(api)
    return api
  }
  const run = async (api: TestApi, as: TestUser, statement: unknown, valId?: string) => {
    const path = valId === undefined ? "/v1/sqlite/execute" : `/v2/sqlite/execute?val_id=${valId}`
    return expectStatus(await api.call("POST", path, { as, body: { statement } }), 200).json
  }

  test("of either home can be restored into the other, and back", async () => {
    const first = await openApi()
    apis.push(first)
    const ada = await first.addUser("ada")
    const val = expectStatus(
      await first.call("POST", "/v1/vals", { as: ada, body: { code: "1" } }),
      200,
    ).json
    for (const sql of [
      "create table notes (id integer primary key autoincrement, text text unique, bytes)",
      "create virtual table search using fts5(text)",
      `insert into notes (id, text) values (1, 'one'), (7, '${fox}')`,
      "insert into search (rowid, text) values (7, 'to be or not to be')",
      // More pages than are sent at a time.
      "insert into notes (text, bytes) values ('large', zeroblob(3000000))",
      "pragma user_version = 5",
    ])
      await run(first, ada, sql)
    await run(first, ada, "create table kept (a)", val.id)
    await run(first, ada, { sql: "insert into kept values (?)", args: [fox] }, val.id)

    const admin = first.admin
    const expectAll = async (api: TestApi) => {
      const notes = "select id, text, length(bytes) from notes order by id"
      const { rows } = await run(api, ada, notes)
      expect(rows.slice(0, 3)).toEqual([
        [1, "one", null],
        [7, fox, null],
        [8, "large", 3_000_000],
      ])
      const found = await run(api, ada, "select rowid from search where search match 'be'")
      expect(found.rows).toEqual([[7]])
      expect((await run(api, ada, "pragma integrity_check")).rows).toEqual([["ok"]])
      expect((await run(api, ada, "pragma user_version")).rows).toEqual([[5]])
      expect((await run(api, ada, "select a from kept", val.id)).rows).toEqual([[fox]])
      const usage = await api.call("GET", "/v1/me/usage", { as: ada })
      expect(usage.json.sqlite.bytes).toBeGreaterThan(3_000_000)
      return rows.length
    }
    expect(await expectAll(first)).toBe(3)
    const { bytes } = await takeBackup(first)

    const second = await restore(bytes, true)
    expect(await expectAll(second)).toBe(3)
    await run(second, ada, "insert into notes (text) values ('from libSQL')")
    // A server that has databases already is not changed.
    const taken = await createRestoreTarget("SQLite")
    targets.push(taken)
    await expect(taken.restore(bytes, { libsql: server.options })).rejects.toThrow(
      "the libSQL server already contains databases of users",
    )
    expect(await expectAll(second)).toBe(4)

    const again = await takeBackup({ ...second, admin })
    const third = await restore(again.bytes, false)
    expect(await expectAll(third)).toBe(4)
    await run(third, ada, "insert into notes (text) values ('from a file')")
    expect((await run(third, ada, "select max(id) from notes")).rows).toEqual([[10]])
  }, 60_000)
})
