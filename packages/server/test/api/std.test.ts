import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { standardModuleNames } from "@hamlet/contract"
import { findDeno } from "../../../../scripts/find-deno.ts"
import { createStandardScripts } from "../../src/composition/modules.ts"
import { expectStatus, type TestUser, testBaseUrl } from "../support/api.ts"
import { type ApiSuite, describeSqliteApi, refusalOf } from "./suite.ts"

const runtime = { "user-agent": "Deno/2.9.5" }
const browser = { "user-agent": "Mozilla/5.0" }
const denoMsMax = 120_000

const standardScripts = createStandardScripts()

describeSqliteApi("standard library", (suite) => {
  describe("GET /std/{module}", () => defineRoute(suite))
  describe("in a program", () => definePrograms(suite))
  describe("imported from the server by a program on Deno,", () => defineOnDeno(suite))
  describe("in a sandbox", () => defineInSandbox(suite))
})

function defineRoute({ call }: ApiSuite): void {
  for (const [name, exported] of [
    ["blob", "const blob = {"],
    ["sqlite", "const sqlite = {"],
    ["sqlite2", "const sqlite = {"],
    ["email", "async function email("],
    ["fetch", "async function fetch("],
    ["openai", "class OpenAI {"],
    ["rpc", "function rpc"],
    ["utils", "function parseVal("],
    ["API_URL", "const API_URL"],
  ] as const) {
    test(`is ${name} in TypeScript for a runtime, with or without .ts, and in JavaScript for a browser`, async () => {
      const given = expectStatus(await call("GET", `/std/${name}`, { headers: runtime }), 200)
      expect(given.headers.get("content-type")).toBe("text/typescript; charset=utf-8")
      expect(given.text).toContain(`export ${exported}`)
      expect(given.text).not.toMatch(/^import /m)
      expect((await call("GET", `/std/${name}.ts`, { headers: runtime })).text).toBe(given.text)
      const shown = expectStatus(await call("GET", `/std/${name}`, { headers: browser }), 200)
      expect(shown.headers.get("content-type")).toBe("text/javascript; charset=utf-8")
      expect(shown.text).toContain(`export ${exported}`)
      expect(shown.text).not.toContain("interface ")
    })
  }

  test("is cached with revalidation, separately for browsers and runtimes", async () => {
    const first = expectStatus(await call("GET", "/std/blob", { headers: runtime }), 200)
    expect(first.headers.get("cache-control")).toBe("public, no-cache")
    expect(first.headers.get("vary")).toBe("accept, user-agent")
    expect(first.headers.get("access-control-allow-origin")).toBe("*")
    const tag = first.headers.get("etag") ?? ""
    expectStatus(
      await call("GET", "/std/blob", { headers: { ...runtime, "if-none-match": tag } }),
      304,
    )
    expectStatus(
      await call("GET", "/std/blob", { headers: { ...browser, "if-none-match": tag } }),
      200,
    )
  })

  test.each(["mail", "blob.js", "BLOB", "blob@1", "..%2fblob", "__proto__"])(
    "has no module %s",
    async (name) => {
      expect(refusalOf(await call("GET", `/std/${name}`))).toEqual([404, "route_not_found"])
    },
  )
}

function definePrograms(suite: ApiSuite): void {
  const { addUser: person, val } = suite
  const modulesOf = async (owner: TestUser, code: string): Promise<ReadonlyMap<string, string>> => {
    const { id } = await val(owner, { code })
    const found = await suite.api.hamlet.stores.vals.findById(id)
    if (!found) throw new Error("Cannot find the val")
    const { modules, end } = await (
      await suite.api.hamlet.parts.runs.programs.of(found, owner.id)
    ).load()
    end()
    const codes = new Map(modules.map(({ url, code }) => [url, code]))
    return new Map(modules.map(({ url, location }) => [url, codes.get(location ?? url) ?? ""]))
  }

  test("is available under the addresses that the val imports", async () => {
    const ada = await person()
    const { blob, sqlite } = await standardScripts()
    const modules = await modulesOf(
      ada,
      'import { blob } from "https://esm.town/v/std/blob?v=11"\nimport sqlite from "/std/sqlite.ts"\nexport default () => import("../../std/blob")',
    )
    expect(modules.get("https://esm.town/v/std/blob?v=11")).toBe(blob)
    expect(modules.get(`${testBaseUrl}/std/sqlite.ts`)).toBe(sqlite)
    // What the runtime resolves `../../` to.
    expect(modules.get(`${testBaseUrl}/v/std/blob`)).toBe(blob)
    expect(modules.size).toBe(4)
  })

  test("is available to an imported val", async () => {
    const ada = await person()
    await val(ada, { name: "lib", code: 'export * from "https://esm.town/v/std/blob"' })
    expect([...(await modulesOf(ada, 'import "./lib"')).keys()]).toContain(
      "https://esm.town/v/std/blob",
    )
  })

  test("does not hide vals of a user named std, and is no reference to them", async () => {
    const [ada, std] = [await person(), await suite.api.addUser("std")]
    const theirs = await val(std, { name: "blob", code: "export const theirs = 1" })
    const modules = await modulesOf(
      ada,
      `import "https://esm.town/v/std/blob"\nimport "${testBaseUrl}/v/std/blob"`,
    )
    expect(modules.get("https://esm.town/v/std/blob")).toBe((await standardScripts()).blob)
    expect(modules.get(`${testBaseUrl}/v/std/blob`)).toBe("export const theirs = 1")
    await val(ada, { code: 'import "https://esm.town/v/std/blob"' })
    expect((await suite.call("GET", `/v1/vals/${theirs.id}`)).json.referenceCount).toBe(1)
  })
}

/** What it does against the server itself, wherever it runs. */
const blobScript = `await blob.setJSON("a/b c", { n: 1 })
  await blob.set("text", "é")
  await blob.copy("text", "copy")
  await blob.move("copy", "moved")
  const text = await blob.get("moved")
  const missing = await blob.get("none").catch((error) => error.name)
  await blob.delete("text")
  const keys = (await blob.list()).map((entry) => entry.key)
  const under = (await blob.list("a/")).map((entry) => [entry.key, entry.size])
  return [await blob.getJSON("a/b c"), await text.text(), text.headers.get("content-type"), missing, keys, under, await blob.getJSON("none") ?? null]`
const blobResult = [
  { n: 1 },
  "é",
  "text/plain;charset=UTF-8",
  "ValTownBlobNotFoundError",
  ["a/b c", "moved"],
  [["a/b c", 7]],
  null,
]
const sqliteScript = `await sqlite.batch(["create table t (id integer primary key, name text, data blob)", { sql: "insert into t (name, data) values (?, ?)", args: ["ada", new Uint8Array([1, 2])] }])
  const inserted = await sqlite.execute("insert into t (name) values (:name)", { name: "bob" })
  const { columns, columnTypes, rows } = await sqlite.execute("select id, name, length(data) as bytes from t order by id")
  const failed = await sqlite.execute("select * from absent").catch((error) => [error.name, error.code, error.message.includes("no such table")])
  const undone = await sqlite.batch(["delete from t", "select * from absent"]).catch((error) => error.code)
  await sqlite.migrate(["alter table t add column age integer", "update t set age = 36 where id = 1"])
  const [[left, age]] = (await sqlite.execute("select count(*), max(age) from t")).rows
  return [inserted.rowsAffected, inserted.lastInsertRowid, columns, columnTypes, rows, rows[0].name, failed, undone, left, age]`
const sqliteResult = [
  1,
  2,
  ["id", "name", "bytes"],
  ["INTEGER", "TEXT", ""],
  [
    { id: 1, name: "ada", bytes: 2 },
    { id: 2, name: "bob", bytes: null },
  ],
  "ada",
  ["LibsqlError", "SQLITE_ERROR", true],
  "SQLITE_ERROR",
  2,
  36,
]

function defineOnDeno(suite: ApiSuite): void {
  let server: ReturnType<typeof Bun.serve>
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "hamlet-std-"))
    server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      idleTimeout: 0,
      fetch: (request) => suite.api.hamlet.app.fetch(request),
    })
  })
  afterAll(async () => {
    await server.stop(true)
    await rm(folder, { recursive: true })
  })

  const run = async (name: string, script: string, { token }: TestUser): Promise<unknown> => {
    const host = `127.0.0.1:${server.port}`
    const flags = [
      "--quiet",
      "--no-config",
      "--no-lock",
      `--allow-import=${host}`,
      `--allow-net=${host}`,
      "--allow-env",
      "--ext=ts",
    ]
    const child = Bun.spawn([findDeno(), "run", ...flags, "-"], {
      stdin: new Blob([
        `import { ${name} } from "http://${host}/std/${name}"
        const result = await (async () => { ${script} })().catch((error) => ({ name: error.name, code: error.code, message: error.message }))
        console.log(JSON.stringify(result))`,
      ]),
      stdout: "pipe",
      stderr: "pipe",
      env: {
        HAMLET_URL: `http://${host}`,
        HAMLET_TOKEN: token,
        DENO_DIR: folder,
        DENO_NO_UPDATE_CHECK: "1",
      },
    })
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ])
    if ((await child.exited) !== 0) throw new Error(stderr)
    return JSON.parse(stdout)
  }

  test(
    "blob works as documented",
    async () => expect(await run("blob", blobScript, await suite.addUser())).toEqual(blobResult),
    denoMsMax,
  )

  test(
    "sqlite works as documented, and reports its errors",
    async () => {
      const result = await run("sqlite", sqliteScript, await suite.addUser())
      if (suite.database.path === undefined)
        expect(result).toMatchObject({ name: "LibsqlError", code: "sqlite_unavailable" })
      else expect(result).toEqual(sqliteResult)
    },
    denoMsMax,
  )
}

function defineInSandbox(suite: ApiSuite): void {
  const { call, addUser: person, val } = suite
  const run = async (owner: TestUser, code: string, as = owner) => {
    const { id } = await val(owner, { code })
    return expectStatus(await call("POST", `/v1/vals/${id}/runs`, { as }), 200).json
  }
  const toVal = (name: string, script: string) =>
    `import { ${name} } from "https://esm.town/v/std/${name}"\nexport default async () => { ${script} }`

  test("is imported without network access, from every address", async () => {
    const code = `import { blob } from "https://esm.town/v/std/blob?v=3"
      import own from "/std/blob.ts"
      import { sqlite } from "https://esm.town/v/std/sqlite/main.ts"
      export default () => [typeof blob.get, typeof own.set, typeof sqlite.batch]`
    expect(await run(await person(), code)).toMatchObject({
      status: "succeeded",
      returnValue: ["function", "function", "function"],
    })
  })

  test("shows the lines of its TypeScript in stack traces", async () => {
    const code = toVal("blob", 'return await blob.setJSON("a", undefined)')
    const { error } = await run(await person(), code)
    const lines = suite.api.hamlet.nouns.standardModules.blob.split("\n")
    const line = lines.findIndex((text) => text.includes("is nothing that JSON can hold")) + 1
    expect(error.stack).toContain(`std/blob.tsx:${line}:`)
  })

  test("is listed where a val imports a module that it does not have", async () => {
    const ended = await run(await person(), 'import "/std/mail"')
    expect(ended.error.message).toBe(
      `Cannot import "${testBaseUrl}/std/mail": this server has no standard module "mail" (it has ${standardModuleNames.join(", ")})`,
    )
  })

  test("cannot use storage on the account of another user", async () => {
    const ended = await run(
      await person(),
      toVal("blob", 'return await blob.get("a")'),
      await person(),
    )
    expect(ended.error).toMatchObject({
      name: "ValTownBlobError",
      message:
        'Cannot get blob "a": this val runs on another user\'s account, which has no storage',
    })
  })

  test("uses the storage of its owner", async () => {
    const ada = await person()
    expect(await run(ada, toVal("blob", blobScript))).toMatchObject({
      status: "succeeded",
      returnValue: blobResult,
    })
    const ended = await run(ada, toVal("sqlite", sqliteScript))
    if (suite.database.path === undefined)
      expect(ended.error).toMatchObject({ name: "LibsqlError" })
    else expect(ended).toMatchObject({ status: "succeeded", returnValue: sqliteResult })
  })
}
