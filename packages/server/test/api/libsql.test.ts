import { expect, test } from "bun:test"
import { waitUntil } from "@hamlet/kit/testing"
import { createLibsqlRegistry, createLibsqlServer, toNamespace } from "@hamlet/owner-databases"
import { hasLibsql, startLibsql } from "@hamlet/owner-databases/testing"
import { purgeUser } from "../../src/domain/accounts/accounts.ts"
import { expectStatus, openApi, type TestApi } from "../support/api.ts"
import { describePostgres, describeSqlite, type OpenDatabase } from "../support/databases.ts"
import { refusalOf } from "./suite.ts"

if (hasLibsql("two servers with one libSQL server"))
  describePostgres("two servers with one libSQL server", (open) => {
    test("share databases, delete them with their user, and survive it", async () => {
      await using libsql = await startLibsql()
      const database = await open()
      const shared: OpenDatabase = async () => ({ ...database, close: async () => {} })
      const [one, two] = [await openApi(shared, libsql.env), await openApi(shared, libsql.env)]
      try {
        const ada = await one.addUser("ada")
        const run = (api: TestApi, statement: string) =>
          api.call("POST", "/v1/sqlite/execute", { as: ada, body: { statement } })
        expectStatus(await run(one, "create table t (a)"), 200)
        expectStatus(await run(two, "insert into t values (7)"), 200)
        expect(expectStatus(await run(one, "select a from t"), 200).json.rows).toEqual([[7]])
        const usage = async () => one.call("GET", "/v1/me/usage", { as: ada })
        expect((await usage()).json.sqlite.bytes).toBeGreaterThan(0)

        await libsql.kill()
        const refused = await run(two, "select a from t")
        expect([...refusalOf(refused), refused.json.message]).toEqual([
          503,
          "database_unavailable",
          "Cannot use the database: the libSQL server cannot be reached",
        ])
        expect(refusalOf(await usage())).toEqual([503, "database_unavailable"])
        // What needs no such database works.
        expectStatus(await one.call("GET", "/v1/me", { as: ada }), 200)
        const remove = () =>
          one.call("DELETE", `/v1/users/${ada.id}?data=delete`, { as: one.admin })
        expect(refusalOf(await remove())).toEqual([503, "database_unavailable"])

        await libsql.start()
        const server = createLibsqlServer(libsql.options)
        expect(await server.hasNamespace(toNamespace({ ownerId: ada.id }))).toBe(true)
        // Housekeeping goes on with the deletion.
        const { parts, stores } = one.hamlet
        const { ownerDatabases } = parts.userData
        const data = { accounts: stores.accounts, ownerDatabases, now: Date.now }
        while (await purgeUser(data, ada.id));
        expect(await server.hasNamespace(toNamespace({ ownerId: ada.id }))).toBe(false)
        expect(await ownerDatabases.sizeOf(ada.id)).toBe(0)
      } finally {
        await two.close()
        await one.close()
        await database.close()
      }
    })
  })

if (hasLibsql("a server with a wrong key of its libSQL server"))
  describeSqlite("a server with a wrong key of its libSQL server", (open) => {
    test("says so in /readyz, the metrics and the log, and serves everything else", async () => {
      await using libsql = await startLibsql()
      await createLibsqlRegistry(createLibsqlServer(libsql.options)).listOf("x")
      const log: string[] = []
      const writeLog = (text: string) => void log.push(text)
      const api = await openApi(
        open,
        { ...libsql.env, HAMLET_LIBSQL_KEY: "albatross", HAMLET_LOG_LEVEL: "warn" },
        { writeLog },
      )
      try {
        await waitUntil(async () => {
          const { json } = expectStatus(await api.call("GET", "/readyz"), 200)
          return json.warnings.length > 0
        })
        const { json } = await api.call("GET", "/readyz")
        expect(json.warnings).toEqual([
          "Databases of users cannot be used: the libSQL server refuses the key",
        ])
        const { text } = await api.call("GET", "/metrics")
        expect(text).toContain('hamlet_service_up{service="libsql"} 0\n')
        api.hamlet.log.flush()
        expect(log.join("")).toContain('"event":"service_unavailable","service":"libsql"')
        expect(log.join("")).not.toContain("albatross")
        expectStatus(await api.call("GET", "/v1/me", { as: api.admin }), 200)
      } finally {
        await api.close()
      }
    })
  })
