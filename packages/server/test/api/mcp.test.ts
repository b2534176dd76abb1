import { describe, expect, test } from "bun:test"
import type { Scope } from "@hamlet/contract"
import { waitUntil } from "@hamlet/kit/testing"
import { expectStatus, openApi, type TestUser, testBaseUrl } from "../support/api.ts"
import { connectMcp, revisions } from "./mcp-client.ts"
import { type ApiSuite, describeSqliteApi, refusalOf } from "./suite.ts"

describeSqliteApi(
  "api/mcp",
  (suite) => {
    describe("POST /mcp", () => defineRequests(suite))
    describe("the tools for vals", () => defineVals(suite))
    describe("the tools for files", () => defineFiles(suite))
    describe("the tools for runs and data", () => defineRuns(suite))
  },
  { HAMLET_DATA_DIR_SHARED: "yes" },
)

const code = "// one\nexport default (a, b) => a + b\n// two\n"

function defineRequests(suite: ApiSuite): void {
  const { call, addUser: person } = suite
  const list = { jsonrpc: "2.0", id: 1, method: "tools/list" }
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  }
  /** Without the check against the OpenAPI document: the responses are those of another protocol. */
  const post = async (as: TestUser | undefined, body: unknown, more: object = {}) => {
    const authorization = as === undefined ? {} : { authorization: `Bearer ${as.token}` }
    const response = await suite.api.hamlet.app.request(`${testBaseUrl}/mcp`, {
      method: "POST",
      headers: { ...headers, ...authorization, ...more },
      body: typeof body === "string" ? body : JSON.stringify(body),
    })
    const text = await response.text()
    const isJson = response.headers.get("content-type")?.startsWith("application/json")
    const { status } = response
    return { status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined }
  }

  test.each(revisions)("serves revision %s to the official client", async (revision) => {
    const { client } = await connectMcp(suite.api, await person(), { revision })
    expect(client.getNegotiatedProtocolVersion()).toBe(revision)
    expect(client.getServerVersion()).toMatchObject({ name: "hamlet" })
    expect(client.getInstructions()).toContain(testBaseUrl)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toContain("edit_val")
  })

  test("describes every tool, its arguments and what it does to data", async () => {
    const { client } = await connectMcp(suite.api, await suite.sharedUser())
    const { tools } = await client.listTools()
    for (const { name, description, inputSchema, outputSchema, annotations } of tools) {
      expect(description?.length, name).toBeGreaterThan(30)
      expect(outputSchema, name).toBeDefined()
      expect(annotations?.readOnlyHint, name).toBe(
        !annotations?.destructiveHint && !/^(?:create|fork)_/.test(name),
      )
      const fields = Object.entries(inputSchema.properties ?? {}) as [string, object][]
      for (const [field, schema] of fields)
        expect("description" in schema, `${name}.${field}`).toBe(true)
    }
  })

  test("acts for an organisation that a tool names, or that the connection does", async () => {
    const ada = await person()
    const username = `org${crypto.randomUUID().slice(0, 8)}`
    expectStatus(await call("POST", "/v1/orgs", { as: ada, body: { username } }), 201)
    const { tool } = await connectMcp(suite.api, ada)
    expect((await tool("list_orgs", {})).data.owners).toEqual([
      { username: ada.username, type: "user" },
      { username, type: "org", role: "owner" },
    ])
    await tool("create_val", { name: "shared", code, owner: username })
    expect((await tool("read_val", { val: "shared", owner: username })).text).toContain("// one")
    expect((await tool("list_my_vals", {})).data.vals).toEqual([])
    const others = await connectMcp(suite.api, await person())
    const refused = await others.tool("list_my_vals", { owner: username })
    expect(refused.text).toContain("org_not_found")
  })

  test("has the same tools at /v3/mcp", async () => {
    const ada = await suite.sharedUser()
    const names = async (path: string) => {
      const { client } = await connectMcp(suite.api, ada, { path })
      const { tools } = await client.listTools()
      await client.close()
      return tools.map(({ name }) => name)
    }
    expect(await names("/v3/mcp")).toEqual(await names("/mcp"))
  })

  test("needs a token, and accepts neither a wrong one nor a session", async () => {
    expect(refusalOf(await post(undefined, list))).toEqual([401, "unauthenticated"])
    const ada = await person()
    const wrong = await post({ ...ada, token: "x".repeat(40) }, list)
    expect(refusalOf(wrong)).toEqual([401, "invalid_token"])
    const signedIn = await suite.api.hamlet.app.request(`${testBaseUrl}/v1/sessions`, {
      method: "POST",
      headers: { "x-hamlet-session": "1" },
      body: JSON.stringify({ token: ada.token }),
    })
    const { pageKey } = await signedIn.json()
    const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? ""
    const session = { cookie, "x-hamlet-session": pageKey }
    expectStatus(await call("GET", "/v1/me", { headers: session }), 200)
    expect(refusalOf(await post(undefined, list, session))).toEqual([401, "unauthenticated"])
  })

  test("refuses pages of other origins, and accepts programs and its own pages", async () => {
    const ada = await suite.sharedUser()
    for (const origin of ["http://evil.test", "null", "http://hamlet.test.evil.test", "x"])
      expect(refusalOf(await post(ada, list, { origin }))).toEqual([403, "cross_site_request"])
    expectStatus(await post(ada, list, { origin: testBaseUrl }), 200)
    expectStatus(await post(ada, list), 200)
  })

  test("takes one message per request, by POST only", async () => {
    const ada = await suite.sharedUser()
    for (const method of ["GET", "DELETE", "PUT"]) {
      const refused = await call(method, "/mcp", { as: ada })
      expect(refusalOf(refused)).toEqual([405, "method_not_allowed"])
      expect(refused.headers.get("allow")).toBe("OPTIONS, POST")
    }
    for (const body of ["", "{", "[]", "1", "null", JSON.stringify([list, list])])
      expect((await post(ada, body)).status, body).toBe(400)
    const large = JSON.stringify({ ...list, params: { x: "y".repeat(20_000_000) } })
    expect(refusalOf(await post(ada, large))).toEqual([413, "body_too_large"])
    expectStatus(await post(ada, list, { "content-type": "text/plain" }), 415)
  })

  test("refuses arguments that are nested too deeply before a tool reads them", async () => {
    const ada = await person()
    const call = (levels: number) =>
      post(
        ada,
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_code","arguments":{"code":"export default (a) => JSON.stringify(a).length","args":[${"[".repeat(levels)}${"]".repeat(levels)}]}}}`,
      )
    const deep = await call(100_000)
    expect(deep.status).toBe(400)
    expect(deep.json.error.message).toMatch(/nested more than 110 levels deep/)
    expect((await call(99)).status).toBe(200)
  })

  test("never fails on a hostile message", async () => {
    const ada = await suite.sharedUser()
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "x", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    }
    const deep = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`
    const calls = (name: unknown, args: unknown) =>
      JSON.stringify({ ...list, method: "tools/call", params: { name, arguments: args } })
    const bodies = [
      ...["__proto__", "constructor", "toString", "", "x".repeat(100_000), 1, null].map((name) =>
        calls(name, {}),
      ),
      ...[null, [], "x", { val: { toString: 1 } }, { val: ["a"] }, { __proto__: null }].map(
        (args) => calls("read_val", args),
      ),
      ...["../../me", "a/b/c", "/", "..", "a/..", "@", "%2e%2e", "\0", "\ud800", "a\nb/c"].map(
        (val) => calls("read_val", { val }),
      ),
      ...[".", "..", "\0", "\ud800", "../x"].map((key) => calls("read_blob", { key })),
      calls("list_my_vals", { cursor: "x".repeat(9_000) }),
      calls("list_runs", { since: "now" }),
      calls("read_logs", { runId: "../../me", fromLine: 1e308 }),
      calls("query_sqlite", { sql: "select 1; drop table x", args: [{}] }),
      calls("request_val", { val: "x", method: "GET\r\nx: y", headers: { "a\nb": "c" } }),
      calls("write_blob", { key: "a", text: "b", contentType: "a\r\nb: c" }),
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_code","arguments":${deep}}}`,
      `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":${deep}}`,
      JSON.stringify({ jsonrpc: "2.0", id: {}, method: "tools/list" }),
      JSON.stringify({
        jsonrpc: "2.0",
        method: "notifications/cancelled",
        params: { requestId: 1 },
      }),
      JSON.stringify({ jsonrpc: "1.0", id: 1, method: "initialize" }),
      JSON.stringify({ jsonrpc: "2.0", id: 1, result: {} }),
      JSON.stringify({ ...list, method: "initialize", params: { protocolVersion: 7 } }),
      JSON.stringify({ ...list, method: "subscriptions/listen", params: { _meta: meta } }),
      JSON.stringify({ ...list, method: "tasks/get", params: { _meta: meta } }),
    ]
    for (const body of bodies)
      for (const more of [
        {},
        { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call" },
      ]) {
        const answer = await post(ada, body, more)
        expect(`${answer.status} ${body.slice(0, 200)}`).not.toStartWith("5")
        expect(`${answer.text} for ${body.slice(0, 200)}`).not.toContain("internal error")
      }
  })

  test("offers only tools that change nothing at /mcp?readonly", async () => {
    const ada = await person()
    const { client, tool } = await connectMcp(suite.api, ada, { path: "/mcp?readonly" })
    const { tools } = await client.listTools()
    expect(tools.map(({ annotations }) => annotations?.readOnlyHint)).not.toContain(false)
    expect(tools.map(({ name }) => name)).not.toContain("run_val")
    const refused = await tool("create_val", { code: "1" }).catch((error: unknown) => error)
    expect(String(refused)).toContain("not found")
    expectStatus(await call("GET", "/v1/me/vals", { as: ada }), 200)
    const answer = await post(ada, list, { "x-mcp-readonly": "true" })
    expect(answer.text).not.toContain("create_val")
  })

  test("offers only the tools that the scopes of the token allow", async () => {
    const { id } = await person()
    const scopes: Scope[] = ["run:read", "val:read"]
    const { text } = await suite.api.hamlet.nouns.tokens.issue(id, {
      name: "a",
      scopes,
      expiresAt: null,
    })
    const { client, tool } = await connectMcp(suite.api, text)
    const names = (await client.listTools()).tools.map(({ name }) => name)
    expect(names).toContain("read_val")
    expect(names).toContain("read_docs")
    for (const name of ["create_val", "run_val", "query_sqlite", "list_blobs"])
      expect(names).not.toContain(name)
    const refused = await tool("run_val", { val: "x" }).catch((error: unknown) => error)
    expect(String(refused)).toContain("not found")
  })
}

function defineVals(suite: ApiSuite): void {
  const { addUser: person, val } = suite

  test.each(revisions)("create, read, edit and list versions with %s", async (revision) => {
    const ada = await person()
    const { tool } = await connectMcp(suite.api, ada, { revision })
    const created = await tool("create_val", { name: "adder", code, readme: "# Adds\n\ntwo" })
    expect(created.data).toMatchObject({
      val: `${ada.username}/adder`,
      version: 1,
      privacy: "private",
      type: "script",
      about: "two",
    })
    const edited = await tool("edit_val", {
      val: "adder",
      version: 1,
      edits: [{ oldText: "a + b", newText: "a - b" }],
    })
    expect(edited.data).toMatchObject({ version: 2, isUnchanged: false })
    const diff =
      "--- a\n+++ b\n@@ -1,2 +1,3 @@\n // one\n+// more\n export default (a, b) => a - b\n"
    expect((await tool("edit_val", { val: created.data.id, version: 2, diff })).data.version).toBe(
      3,
    )
    const read = await tool("read_val", { val: `@${ada.username}/adder` })
    expect(read.data).toMatchObject({
      code: "// one\n// more\nexport default (a, b) => a - b\n// two\n",
      version: 3,
      nextLine: null,
    })
    expect(read.text).toContain("// more\nexport default")
    expect((await tool("read_val", { val: "adder", version: 1 })).data.code).toBe(code)
    const versions = await tool("list_versions", { val: "adder", limit: 2 })
    expect(versions.data.versions.map((it: { version: number }) => it.version)).toEqual([3, 2])
    const rest = await tool("list_versions", { val: "adder", cursor: versions.data.nextCursor })
    expect(rest.data).toMatchObject({ versions: [{ version: 1, codeChars: code.length }] })
    const updated = await tool("update_val", { val: "adder", privacy: "public", type: "http" })
    expect(updated.data).toMatchObject({ privacy: "public", type: "http", version: 4 })
    expect(updated.data.endpoint).toContain("adder")
  })

  test("edit_val refuses a version that is not the current one", async () => {
    const ada = await person()
    const { tool } = await connectMcp(suite.api, ada)
    await tool("create_val", { name: "busy", code })
    const edit = (newText: string) =>
      tool("edit_val", { val: "busy", version: 1, edits: [{ oldText: "// one", newText }] })
    const answers = await Promise.all(["// a", "// b", "// c", "// d"].map(edit))
    expect(answers.filter(({ isError }) => !isError)).toHaveLength(1)
    for (const { text } of answers.filter(({ isError }) => isError))
      expect(text).toContain("read_val")
    expect((await tool("read_val", { val: "busy" })).data.version).toBe(2)
  })

  test("edit_val refuses edits that multiply the code beyond its limit", async () => {
    const { tool } = await connectMcp(suite.api, await person())
    await tool("create_val", { name: "grows", code: "a" })
    const doubling = { oldText: "a", newText: "aa", all: true }
    const edits = Array.from({ length: 100 }, () => doubling)
    expect(await tool("edit_val", { val: "grows", version: 1, edits })).toMatchObject({
      isError: true,
      text: expect.stringContaining("262144 characters, and 256000 are allowed"),
    })
    expect((await tool("read_val", { val: "grows" })).data.version).toBe(1)
  })

  test("edit_val says how to correct an edit", async () => {
    const { tool } = await connectMcp(suite.api, await person())
    await tool("create_val", { name: "x", code })
    const edit = (args: object) => tool("edit_val", { val: "x", version: 1, ...args })
    expect(await edit({ edits: [{ oldText: "absent", newText: "" }] })).toMatchObject({
      isError: true,
      text: expect.stringContaining("does not occur"),
    })
    expect((await edit({ edits: [{ oldText: "//", newText: "" }] })).text).toContain(
      "more than once",
    )
    expect((await edit({})).text).toContain("exactly one of edits, diff and code")
    expect((await edit({ diff: "nonsense" })).text).toContain("no hunks")
    expect((await edit({ code: "" })).text).toContain("code")
    const missing = await tool("read_val", { val: "nobody/nothing" })
    expect(missing.text).toContain("search_vals")
    expect((await edit({ code })).data).toMatchObject({ version: 1, isUnchanged: true })
  })

  test("show nothing of private vals of others, and change nothing of others", async () => {
    const [ada, bob] = [await person(), await person()]
    const word = `word${Bun.randomUUIDv7().replaceAll("-", "")}`
    const hidden = await val(ada, { name: "hidden", code: `// ${word}`, privacy: "private" })
    const open = await val(ada, { name: "open", code: `// ${word}`, privacy: "public" })
    const { tool } = await connectMcp(suite.api, bob)
    for (const named of [hidden.id, `${ada.username}/hidden`]) {
      expect((await tool("read_val", { val: named })).text).toContain("val_not_found")
      expect((await tool("run_val", { val: named })).text).toContain("val_not_found")
      expect((await tool("list_versions", { val: named })).text).toContain("val_not_found")
    }
    const found = await tool("search_vals", { query: word })
    expect(found.data.vals.map((it: { id: string }) => it.id)).toEqual([open.id])
    const edit = await tool("edit_val", { val: open.id, version: 1, code: "2" })
    expect(edit.text).toContain("not_owner")
    expect((await tool("update_val", { val: open.id, privacy: "private" })).text).toContain(
      "not_owner",
    )
  })

  test("read_val returns long code in pages", async () => {
    const ada = await person()
    const lines = Array.from(
      { length: 3_000 },
      (_, index) => `// line ${index + 1} of the code of a val`,
    )
    const long = await val(ada, { code: lines.join("\n") })
    const { tool } = await connectMcp(suite.api, ada)
    let [text, line] = ["", 1 as number | null]
    while (line !== null) {
      const { data } = await tool("read_val", { val: long.id, fromLine: line })
      expect(data.code.length).toBeLessThanOrEqual(50_000)
      text += `${text === "" ? "" : "\n"}${data.code}`
      line = data.nextLine
    }
    expect(text).toBe(long.code)
  })

  test("list_my_vals and search_vals page through all vals", async () => {
    const ada = await person()
    for (const name of ["a1", "a2", "a3"]) await val(ada, { name })
    const { tool } = await connectMcp(suite.api, ada)
    const first = await tool("list_my_vals", { limit: 2 })
    const second = await tool("list_my_vals", { limit: 2, cursor: first.data.nextCursor })
    const names = [...first.data.vals, ...second.data.vals].map((it: { val: string }) => it.val)
    expect(names.sort()).toEqual(["a1", "a2", "a3"].map((name) => `${ada.username}/${name}`))
    expect(second.data.nextCursor).toBeNull()
  })

  test("read_docs returns the pages of the documentation", async () => {
    const { tool } = await connectMcp(suite.api, await suite.sharedUser())
    expect((await tool("read_docs")).text).toContain("std")
    expect((await tool("read_docs", { page: "std" })).text).toContain("# The standard library")
    expect((await tool("read_docs", { page: "../README" })).text).toContain("there are")
  })
}

function defineFiles(suite: ApiSuite): void {
  const { addUser: person } = suite

  test("list, read, create, edit, write, move and delete files, one version for each call", async () => {
    const { tool } = await connectMcp(suite.api, await person())
    await tool("create_val", { name: "site", code: "export default 1" })
    const created = await tool("create_file", { val: "site", path: "lib/a.ts", content: "one\n" })
    expect(created.data).toMatchObject({ path: "lib/a.ts", type: "script", version: 2 })
    const again = await tool("create_file", { val: "site", path: "lib/a.ts", content: "" })
    expect(again).toMatchObject({ isError: true, text: expect.stringContaining("edit_file") })
    const edited = await tool("edit_file", {
      val: "site",
      path: "lib/a.ts",
      version: 2,
      edits: [{ oldText: "one", newText: "two" }],
    })
    expect(edited.data).toMatchObject({ branch: "main", version: 3, isUnchanged: false })
    const changes = [
      { path: "lib/a.ts", newPath: "lib/b.ts" },
      { path: "data.json", content: "{}" },
      { path: "page.tsx", type: "http", content: "export default () => new Response()" },
    ]
    const written = await tool("write_files", { val: "site", version: 3, changes, note: "more" })
    expect(written.data).toMatchObject({ version: 4, totalFiles: 3 })
    const { data } = await tool("list_files", { val: "site" })
    expect(data).toMatchObject({ branch: "main", version: 4, nextOffset: null })
    expect(data.files.map(({ path, type }: Record<string, string>) => [path, type])).toEqual([
      ["data.json", "file"],
      ["lib", "directory"],
      ["lib/b.ts", "script"],
      ["main.tsx", "script"],
      ["page.tsx", "http"],
    ])
    expect(data.files[4].endpoint).toStartWith("http")
    const read = await tool("read_file", { val: "site", path: "lib/b.ts" })
    expect(read.data).toMatchObject({ content: "two\n", version: 4, nextLine: null })
    const old = await tool("read_file", { val: "site", path: "lib/a.ts", version: 2 })
    expect(old.data).toMatchObject({ content: "one\n", version: 2 })
    const inside = await tool("list_files", { val: "site", path: "lib", version: 2 })
    expect(inside.data.files).toMatchObject([{ path: "lib/a.ts" }])
    const remove = { val: "site", version: 4, changes: [{ path: "lib", delete: true }] }
    expect((await tool("write_files", remove)).data.version).toBe(5)
    const gone = await tool("read_file", { val: "site", path: "lib/b.ts" })
    expect(gone).toMatchObject({ isError: true, text: expect.stringContaining("list_files") })
  })

  test("save nothing over a version that the assistant has not read", async () => {
    const { tool } = await connectMcp(suite.api, await person())
    await tool("create_val", { name: "busy", code: "1" })
    const write = (content: string) =>
      tool("write_files", { val: "busy", version: 1, changes: [{ path: "a.txt", content }] })
    const answers = await Promise.all(["a", "b", "c", "d"].map(write))
    expect(answers.filter(({ isError }) => !isError)).toHaveLength(1)
    for (const { text } of answers.filter(({ isError }) => isError)) expect(text).toContain("ead")
    expect((await tool("list_files", { val: "busy" })).data.version).toBe(2)
    const edit = { val: "busy", path: "a.txt", version: 1, content: "e" }
    expect((await tool("edit_file", edit)).text).toContain("has version 2 now")
    expect((await tool("edit_file", { ...edit, version: 2, diff: "x" })).text).toContain(
      "exactly one of edits, diff and content",
    )
  })

  test("work on branches, and run a file of one", async () => {
    const ada = await person()
    const { tool } = await connectMcp(suite.api, ada)
    await tool("create_val", { name: "tree", code: "export default () => 'main'" })
    const branch = await tool("create_branch", { val: "tree", name: "try" })
    expect(branch.data).toMatchObject({ branch: "try", version: 0 })
    const changes = [{ path: "job.ts", content: "export default (n) => n + 1" }]
    const written = await tool("write_files", { val: "tree", branch: "try", version: 0, changes })
    expect(written.data).toMatchObject({ branch: "try", version: 1 })
    const branches = await tool("list_branches", { val: "tree" })
    expect(
      branches.data.branches.map((it: { branch: string; version: number }) => [
        it.branch,
        it.version,
      ]),
    ).toEqual([
      ["main", 1],
      ["try", 1],
    ])
    expect((await tool("list_files", { val: "tree" })).data.files).toHaveLength(1)
    expect((await tool("list_files", { val: "tree", branch: "try" })).data.files).toHaveLength(2)
    const run = { val: "tree", branch: "try", file: "job.ts", args: [1] }
    expect((await tool("run_val", run)).data).toMatchObject({
      returnValue: "2",
      file: "job.ts",
      branch: "try",
    })
    expect((await tool("run_val", { val: "tree" })).data.returnValue).toBe('"main"')
    for (const name of ["list_files", "run_val"]) {
      const missing = await tool(name, { val: "tree", branch: "none" })
      expect(missing.isError, name).toBe(true)
    }
  })

  test("return long lists in pages, and nothing of private vals of others", async () => {
    const [ada, bob] = [await person(), await person()]
    const { tool } = await connectMcp(suite.api, ada)
    await tool("create_val", { name: "many", code: "1" })
    const changes = Array.from({ length: 250 }, (_, n) => ({ path: `f${n}.txt`, content: "x" }))
    const written = await tool("write_files", { val: "many", version: 1, changes })
    expect(written.data).toMatchObject({ totalFiles: 250 })
    expect(written.data.files).toHaveLength(100)
    const paths = new Set<string>()
    let offset: number | null = 0
    while (offset !== null) {
      const { data } = await tool("list_files", { val: "many", version: 2, offset })
      for (const { path } of data.files) paths.add(path)
      offset = data.nextOffset
    }
    expect(paths.size).toBe(251)
    const stranger = await connectMcp(suite.api, bob)
    const val = `${ada.username}/many`
    for (const [name, args] of Object.entries({
      list_files: {},
      read_file: { path: "f1.txt" },
      create_file: { path: "g.txt", content: "" },
      write_files: { version: 2, changes: [{ path: "f1.txt", delete: true }] },
      list_branches: {},
      create_branch: { name: "mine" },
    }))
      expect((await stranger.tool(name, { val, ...args })).text, name).toContain("val_not_found")
  })
}

function defineRuns(suite: ApiSuite): void {
  const { addUser: person, val } = suite

  test("run a val, request one, and read runs and logs", async () => {
    const ada = await person()
    const { tool } = await connectMcp(suite.api, ada)
    await val(ada, {
      name: "both",
      type: "http",
      code: `export default (request) => {
        for (let line = 1; line <= 60; line++) console.log("line", line)
        if (request.headers.get("x-fail")) throw new TypeError("no such luck")
        return new Response("got " + new URL(request.url).pathname, { status: 201 })
      }`,
    })
    const answer = await waitUntil(async () => {
      const response = await tool("request_val", { val: "both", path: "/x" })
      // The machine was too busy to start a process.
      return response.data.status === 503 ? undefined : response
    })
    expect(answer.data).toMatchObject({ status: 201, body: "got /x", isTruncated: false })
    const { runId } = answer.data
    const logs = async (args: object) => (await tool("read_logs", { runId, ...args })).data
    await waitUntil(async () => (await logs({})).totalLines === 60)
    expect((await logs({ lines: 10 })).nextLine).toBe(11)
    expect((await logs({ fromLine: 60 })).lines[0].message).toBe("line 60")
    const failed = await tool("request_val", { val: "both", headers: { "x-fail": "1" } })
    expect(failed.data.status).toBe(502)
    const show = async () => (await tool("get_run", { runId: failed.data.runId })).data
    // The last lines may arrive after the response.
    await waitUntil(async () => (await show()).totalLogLines === 60)
    expect(await show()).toMatchObject({
      status: "failed",
      error: { name: "TypeError", message: "no such luck" },
    })
    expect((await show()).logs.at(-1).message).toBe("line 60")
    const listed = await tool("list_runs", { val: "both", error: true })
    expect(listed.data.runs).toMatchObject([{ runId: failed.data.runId }])

    await val(ada, { name: "adder", code })
    const ran = await tool("run_val", { val: "adder", args: [1, 2] })
    expect(ran.data).toMatchObject({ status: "succeeded", returnValue: "3", error: null })
    expect((await tool("run_code", { code: "export default () => 42" })).data.returnValue).toBe(
      "42",
    )
    const loud = await tool("run_code", { code: `console.log("once"); export default () => 7` })
    expect(loud.data).toMatchObject({ status: "succeeded", returnValue: "7", totalLogLines: 1 })
    expect(loud.data.logs[0].message).toBe("once")
    const thrown = await tool("run_code", {
      code: 'console.log("before"); throw new Error("broken")',
    })
    expect(thrown.data).toMatchObject({
      status: "failed",
      error: { name: "Error", message: "broken" },
      logs: [{ message: "before" }],
    })
    expect(thrown.data.error.stack).toContain("broken")
    const { data } = await tool("get_run", { runId: thrown.data.runId })
    expect(data).toMatchObject({ runId: thrown.data.runId, status: "failed" })
    expect((await tool("request_val", { val: "adder" })).text).toContain("run_val")
  })

  test("set, list and delete schedules, and list the names of secrets", async () => {
    const ada = await person()
    const { tool } = await connectMcp(suite.api, ada)
    await val(ada, { name: "ticker", type: "interval" })
    const set = await tool("set_schedule", { val: "ticker", cron: "0 9 * * 1", isPaused: true })
    expect(set.data).toMatchObject({ file: "main.tsx", branch: "main", isPaused: true, nextAt: [] })
    expect((await tool("set_schedule", { val: "ticker" })).text).toContain("isPaused")
    const listed = await tool("list_schedules", {})
    expect(listed.data.schedules).toMatchObject([{ cron: "0 9 * * 1", timeZone: "UTC" }])
    expect((await tool("delete_schedule", { val: "ticker" })).data).toEqual({ isDeleted: true })
    expect((await tool("delete_schedule", { val: "ticker" })).isError).toBe(true)
    expect((await tool("list_schedules", {})).data.schedules).toEqual([])

    const put = (path: string) =>
      suite.call("PUT", path, { as: ada, body: { value: "hidden", hosts: ["a.test"] } })
    await put("/v1/me/secrets/KEY")
    const { id } = (await suite.call("GET", `/v1/alias/${ada.username}/ticker`)).json
    await put(`/v1/vals/${id}/secrets/OWN`)
    const all = await tool("list_secrets", {})
    expect(all.data.secrets).toMatchObject([{ name: "KEY", hosts: ["a.test"] }])
    const own = await tool("list_secrets", { val: "ticker" })
    expect(own.data.secrets).toMatchObject([{ name: "OWN" }])
    expect(JSON.stringify([all, own])).not.toContain("hidden")
  })

  test("merge branches, restore versions and fork vals", async () => {
    const ada = await person()
    const { tool } = await connectMcp(suite.api, ada)
    await val(ada, { name: "merged", code: "export default 1" })
    await tool("create_branch", { val: "merged", name: "try" })
    const write = (branch: string, version: number, text: string) =>
      tool("write_files", {
        val: "merged",
        branch,
        version,
        changes: [{ path: "main.tsx", content: `export default ${text}` }],
      })
    await write("try", 0, "2")
    const merged = await tool("merge_branch", { val: "merged", branch: "try", note: "two" })
    expect(merged.data).toMatchObject({ version: 2, isNewVersion: true, conflicts: [] })
    await write("try", 1, "3")
    await write("main", 2, "4")
    const refused = await tool("merge_branch", { val: "merged", branch: "try" })
    expect(refused.data).toMatchObject({ isNewVersion: false, version: 3, conflictCount: 1 })
    expect(refused.data.conflicts).toEqual([
      {
        path: "main.tsx",
        base: "export default 2",
        ours: "export default 4",
        theirs: "export default 3",
      },
    ])
    const resolved = [{ path: "main.tsx", content: "export default 7" }]
    const decided = await tool("merge_branch", { val: "merged", branch: "try", resolved })
    expect(decided.data).toMatchObject({ isNewVersion: true, version: 4 })
    const restored = await tool("restore_version", { val: "merged", version: 1 })
    expect(restored.data).toEqual({ branch: "main", version: 5, isNewVersion: true })
    const fork = await tool("fork_val", { val: "merged", name: "copy", version: 4 })
    expect(fork.data).toMatchObject({ val: `${ada.username}/copy`, privacy: "private" })
    expect((await tool("read_val", { val: "copy" })).text).toContain("export default 7")
  })

  test("query and change the database, and refuse writes in a query", async () => {
    const { tool } = await connectMcp(suite.api, await person())
    const made = await tool("execute_sqlite", {
      statements: [
        { sql: "create table t (n integer, s text)" },
        { sql: "insert into t values (?, ?), (2, 'b')", args: [1, "a"] },
      ],
    })
    expect(made.data.results[1]).toMatchObject({ rowsAffected: 2 })
    const rows = await tool("query_sqlite", { sql: "select n, s from t where n = ?", args: [1] })
    expect(rows.data).toMatchObject({ columns: ["n", "s"], rows: [[1, "a"]], isTruncated: false })
    expect((await tool("query_sqlite", { sql: "delete from t" })).isError).toBe(true)
    expect((await tool("query_sqlite", { sql: "nonsense" })).text).toContain("syntax error")
    const many = await tool("query_sqlite", {
      sql: "with recursive c(x) as (select 1 union all select x + 1 from c limit 500) select x from c",
    })
    expect(many.data).toMatchObject({ rowCount: 500, isTruncated: true })
    expect(many.data.rows).toHaveLength(200)
  })

  test("write, list, read and delete blobs, in pages", async () => {
    const { tool } = await connectMcp(suite.api, await person())
    const text = "ä€😀".repeat(9_000)
    expect((await tool("write_blob", { key: "a/b c", text })).data.bytes).toBe(81_000)
    await tool("write_blob", { key: "bytes", base64: "/wD/" })
    await tool("write_blob", { key: "empty", text: "" })
    const keys = await tool("list_blobs", { limit: 2 })
    expect(keys.data.blobs.map((it: { key: string }) => it.key)).toEqual(["a/b c", "bytes"])
    expect((await tool("list_blobs", { after: keys.data.nextAfter })).data.blobs).toHaveLength(1)
    const first = await tool("read_blob", { key: "a/b c" })
    expect(first.data).toMatchObject({ bytes: 81_000, isBase64: false })
    const second = await tool("read_blob", { key: "a/b c", offset: first.data.nextOffset })
    expect(second.data.nextOffset).toBeNull()
    expect(first.data.text + second.data.text).toBe(text)
    expect((await tool("read_blob", { key: "bytes" })).data).toMatchObject({
      text: "/wD/",
      isBase64: true,
    })
    expect((await tool("read_blob", { key: "empty" })).data).toMatchObject({ text: "", bytes: 0 })
    expect((await tool("read_blob", { key: "bytes", offset: 9 })).text).toContain("shorter")
    expect((await tool("delete_blob", { key: "bytes" })).isError).toBe(false)
    expect((await tool("read_blob", { key: "bytes" })).text).toContain("blob_not_found")
  })

  test("reach the blobs and the database that one val has of its own", async () => {
    const ada = await person()
    const { tool } = await connectMcp(suite.api, ada)
    const { id } = await val(ada, { name: "keeper", privacy: "private" })
    const of = { val: "keeper" }
    await tool("write_blob", { key: "a", text: "of the val", ...of })
    await tool("write_blob", { key: "b", text: "of the account" })
    const keys = async (more: Record<string, unknown>) =>
      (await tool("list_blobs", more)).data.blobs.map((it: { key: string }) => it.key)
    expect([await keys(of), await keys({})]).toEqual([["a"], ["b"]])
    expect((await tool("read_blob", { key: "a", val: id })).data.text).toBe("of the val")
    expect((await tool("read_blob", { key: "b", ...of })).text).toContain("the val has none")
    const path = `/v2/blob/a?val_id=${id}`
    expect((await suite.api.call("GET", path, { as: ada })).text).toBe("of the val")
    const create = { statements: [{ sql: "create table t as select 7 as n" }] }
    expect((await tool("execute_sqlite", { ...create, ...of })).isError).toBe(false)
    const read = { sql: "select n from t" }
    expect((await tool("query_sqlite", { ...read, ...of })).data.rows).toEqual([[7]])
    expect((await tool("query_sqlite", read)).text).toContain("no such table")
    expect((await tool("query_sqlite", { sql: "delete from t", ...of })).isError).toBe(true)
    expect((await tool("delete_blob", { key: "a", ...of })).isError).toBe(false)
    expect([await keys(of), await keys({})]).toEqual([[], ["b"]])
  })

  test("refuse the blobs and the database of another user's val", async () => {
    const [ada, bob] = [await person(), await person()]
    const { tool } = await connectMcp(suite.api, bob)
    const [shown, hidden] = [await val(ada), await val(ada, { privacy: "private" })]
    const calls = [
      ["list_blobs", {}],
      ["read_blob", { key: "a" }],
      ["write_blob", { key: "a", text: "x" }],
      ["delete_blob", { key: "a" }],
      ["query_sqlite", { sql: "select 1" }],
      ["execute_sqlite", { statements: [{ sql: "create table t (a)" }] }],
    ] as const
    for (const [name, args] of calls) {
      const refused = async (named: string) => {
        const { isError, text } = await tool(name, { ...args, val: named })
        return isError && /not_owner|val_not_found/.exec(text)?.[0]
      }
      expect([name, await refused(shown.id), await refused(hidden.id)]).toEqual([
        name,
        "not_owner",
        "val_not_found",
      ])
    }
  })
}

test("POST /mcp logs which tool a user called, and how it ended", async () => {
  let log = ""
  const api = await openApi(
    undefined,
    { HAMLET_LOG_LEVEL: "info" },
    {
      writeLog: (text) => {
        log += text
      },
    },
  )
  try {
    const ada = await api.addUser("ada")
    const { tool } = await connectMcp(api, ada)
    await tool("create_val", { name: "noted", code })
    await tool("read_val", { val: "missing" })
    api.hamlet.log.flush()
    const lines = log.split("\n").filter((line) => line.includes('"tool_call"'))
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { tool: "create_val", outcome: "done", user: "ada", userId: ada.id },
      { tool: "read_val", outcome: "refused", user: "ada" },
    ])
    expect(log).not.toContain(ada.token)
  } finally {
    await api.close()
  }
})
