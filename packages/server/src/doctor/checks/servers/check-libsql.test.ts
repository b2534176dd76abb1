import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { createLibsqlRegistry, createLibsqlServer } from "@hamlet/owner-databases"
import { hasLibsql, type LibsqlProcess, startLibsql } from "@hamlet/owner-databases/testing"
import { loadConfig } from "../../../config/config.ts"
import { checkLibsql } from "./check-libsql.ts"

const look = async (env: Readonly<Record<string, string>>) => {
  const [finding] = await checkLibsql(loadConfig(env, []))
  return [finding?.status, finding?.found, finding?.mend]
}

test("checkLibsql says where the databases of users are", async () => {
  expect(await look({})).toEqual(["ok", "files in the data folder", null])
  const postgres = { HAMLET_DATABASE_URL: "postgres://localhost/x" }
  expect(await look({ ...postgres, HAMLET_DATA_DIR_SHARED: "yes" })).toContain("ok")
  expect((await look(postgres))[1]).toStartWith("none: set HAMLET_LIBSQL_URL")
})

describe.if(hasLibsql("checkLibsql"))("checkLibsql", () => {
  let server: LibsqlProcess
  beforeAll(async () => {
    server = await startLibsql()
  })
  afterAll(() => server[Symbol.asyncDispose]())

  test("says that a key cannot be tried before there is a database", async () => {
    const [status, found] = await look(server.env)
    expect(status).toBe("warning")
    expect(found).toContain("HAMLET_LIBSQL_KEY could not be tried")
  })

  test("accepts a server with namespaces and the right keys", async () => {
    await createLibsqlRegistry(createLibsqlServer(server.options)).listOf("x")
    expect(await look(server.env)).toEqual([
      "ok",
      `on the libSQL server ${new URL(server.options.url).host}, which accepts both keys`,
      null,
    ])
  })

  test.each(["HAMLET_LIBSQL_KEY", "HAMLET_LIBSQL_ADMIN_KEY"])(
    "names a wrong %s without repeating it",
    async (name) => {
      const finding = await look({ ...server.env, [name]: "albatross" })
      expect(finding).toMatchObject(["failure", expect.any(String), `correct ${name}`])
      expect(JSON.stringify(finding)).not.toContain("albatross")
    },
  )

  test("reports a server that is not there", async () => {
    const nowhere = { ...server.env, HAMLET_LIBSQL_URL: "http://127.0.0.1:1" }
    expect(await look(nowhere)).toEqual([
      "failure",
      "the libSQL server cannot be reached (127.0.0.1:1)",
      "correct HAMLET_LIBSQL_URL, or start the server",
    ])
    const halfway = { ...server.env, HAMLET_LIBSQL_ADMIN_URL: "http://127.0.0.1:1" }
    expect(await look(halfway)).toEqual([
      "failure",
      "the libSQL server cannot be reached (admin API, 127.0.0.1:1)",
      "correct HAMLET_LIBSQL_ADMIN_URL, or start the server",
    ])
  })
})
