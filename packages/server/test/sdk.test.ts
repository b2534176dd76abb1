import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type RouteDefinition, type RouteName, routes } from "@hamlet/contract"
import { createBackupChecker } from "@hamlet/contract/backup"
import type { Item, Output, PageName } from "@hamlet/contract/client"
import { waitUntil } from "@hamlet/kit/testing"
import ValTown from "@valtown/sdk"
import { PageCursorURL } from "@valtown/sdk/pagination"
import { createSampleData, firstRunAt, type SampleData } from "./support/data/sample-data.ts"
import { describeSqlite } from "./support/databases.ts"
import { type Loopback, openLoopback } from "./support/loopback.ts"

type Run = Item<"listMyRuns">

interface Scene {
  readonly loopback: Loopback
  readonly sample: SampleData
  /** The official client, as Ada. */
  readonly client: ValTown
}

/**
 * The methods of the client, and what programs do with the client that no other test does: an array
 * in a query, an empty body with a content type, responses that are not JSON. `client.test.ts` calls
 * every route.
 */
const calls: Partial<Record<RouteName, (scene: Scene) => Promise<void>>> = {
  async getMe({ client, sample, loopback }) {
    const me = await client.me.profile.retrieve()
    const self = `${loopback.baseUrl}/v1/users/${sample.ada.id}`
    expect(me).toMatchObject({
      id: sample.ada.id,
      username: "ada",
      type: "user",
      email: null,
      tier: null,
      links: { self },
    })
  },
  async listMyRuns({ client, sample }) {
    const [first, second, third] = sample.runs.map((run) => run.id)
    expect(await listIds(client, "listMyRuns", "/v1/me/runs")).toEqual([third, second, first])
    expect(await listIds(client, "listMyRuns", "/v1/me/runs", { error: true })).toEqual([second])
    expect(await listIds(client, "listMyRuns", "/v1/me/runs", { error: false })).toEqual([
      third,
      first,
    ])
    // The client repeats a parameter for each element of an array.
    expect(await listIds(client, "listMyRuns", "/v1/me/runs", { source: ["http", "api"] })).toEqual(
      [third, second, first],
    )
    const since = new Date(firstRunAt).toISOString()
    const until = new Date(firstRunAt + 60_000).toISOString()
    expect(await listIds(client, "listMyRuns", "/v1/me/runs", { since, until })).toEqual([second])
  },
  async searchVals({ client, sample }) {
    const found = await Array.fromAsync(client.search.vals.list({ query: "Importer", limit: 1 }))
    expect(found.map((val) => val.id).sort()).toEqual(sample.importers.map((val) => val.id).sort())
    expect(found[0]?.author?.username).toBe("bob")
  },
  async deleteVal({ client }) {
    const { id } = await addVal(client)
    // The client sends `content-type: application/json` with an empty body.
    expect(await client.delete<object, null>(`/v1/vals/${id}`)).toBeNull()
    expect(await failure(() => client.get(`/v1/vals/${id}`))).toBeInstanceOf(ValTown.NotFoundError)
  },
  async createVersion({ client }) {
    const { id, code } = await addVal(client)
    const path = `/v1/vals/${id}/versions`
    const { data, response } = await client
      .post<object, Output<"createVersion">>(path, { body: { code: `${code}\n` } })
      .withResponse()
    expect(response.status).toBe(201)
    expect(data).toMatchObject({ id, version: 2, code: `${code}\n` })
  },
  async getUser({ client, sample }) {
    expect(await client.users.retrieve(sample.bob.id)).toMatchObject({
      id: sample.bob.id,
      username: "bob",
      bio: null,
      profileImageUrl: null,
    })
  },
  async getUserByName({ client, sample }) {
    expect((await client.alias.username.retrieve("bob")).id).toBe(sample.bob.id)
    expect((await client.alias.username.retrieve("@BOB")).id).toBe(sample.bob.id)
  },
  async listBlobs({ client }) {
    for (const key of ["list/b", "list/a", "other"])
      await client.blobs.store(key, toUpload("12345"))
    const found = await client.blobs.list({ prefix: "list/" })
    expect(found.map(({ key, size }) => [key, size])).toEqual([
      ["list/a", 5],
      ["list/b", 5],
    ])
    expect(Date.parse(found[0]?.lastModified ?? "")).toBeGreaterThan(Date.now() - 60_000)
    expect((await client.blobs.list()).length).toBeGreaterThan(2)
  },
  async getBlob({ client }) {
    const content = crypto.getRandomValues(new Uint8Array(100_000))
    // The client encodes nothing: what it makes an address of is the key.
    for (const key of ["a/b c/ü", "100%", encodeURIComponent("a/../b?")]) {
      await client.blobs.store(key, toUpload(content))
      const response = await client.blobs.get(key)
      expect([
        response.status,
        Buffer.compare(Buffer.from(await response.arrayBuffer()), content),
      ]).toEqual([200, 0])
    }
    expect((await client.blobs.list({ prefix: "a/../" })).map(({ key }) => key)).toEqual([
      "a/../b?",
    ])
    expect(await failure(() => client.blobs.get("nothing"))).toBeInstanceOf(ValTown.NotFoundError)
  },
  async putBlob({ client }) {
    const stored = async (key: string) => (await client.blobs.get(key)).text()
    expect<unknown>(await client.blobs.store("text", toUpload("first"))).toBe("ok")
    await client.blobs.store("text", toUpload("second"))
    expect(await stored("text")).toBe("second")
    await client.blobs.store("empty")
    expect(await stored("empty")).toBe("")
    // What the client sends: docs/blobs.md says so.
    const view = Buffer.from("abcdefgh").subarray(0, 3)
    const send = (key: string, body: unknown) =>
      client.blobs.store(key, body as ValTown.BlobStoreParams)
    await send("view", new Uint8Array(view.buffer, view.byteOffset, view.length))
    await send("copy", new Uint8Array(view))
    await send("blob", new Blob([view]))
    expect(await Promise.all(["view", "copy", "blob"].map(stored))).toEqual(["abcdefgh", "abc", ""])
  },
  async deleteBlob({ client }) {
    await client.blobs.store("gone", toUpload("x"))
    await client.blobs.delete("gone")
    expect(await failure(() => client.blobs.delete("gone"))).toBeInstanceOf(ValTown.NotFoundError)
  },
  async executeSql({ client }) {
    await client.sqlite.execute({
      statement:
        "create table if not exists executed (id integer primary key, title text, cover blob)",
    })
    const sql = "insert into executed (title, cover) values (:title, $cover)"
    const added = await client.sqlite.execute({
      statement: { sql, args: { title: "é", $cover: new Uint8Array([1, 2]) } },
    })
    expect(added).toEqual({
      columns: [],
      columnTypes: [],
      rows: [],
      rowsAffected: 1,
      lastInsertRowid: 1,
    })
    const found = await client.sqlite.execute({
      statement: { sql: "select *, 1 as one from executed where id = ?", args: [1] },
    })
    expect(found).toMatchObject({
      columns: ["id", "title", "cover", "one"],
      columnTypes: ["INTEGER", "TEXT", "BLOB", ""],
    })
    expect(found.rows).toEqual([[1, "é", "AQI=", 1]])
    const error = await failure(() => client.sqlite.execute({ statement: "select * from nowhere" }))
    expect(error).toBeInstanceOf(ValTown.BadRequestError)
    expect(error.message).toBe("400 Cannot run the statement: no such table: nowhere")
  },
  async batchSql({ client }) {
    const statements = [
      "create table if not exists batched (a)",
      { sql: "insert into batched values (?), (?)", args: [1, null] },
      "SELECT a FROM batched;",
    ]
    const results = await client.sqlite.batch({ statements, mode: "write" })
    expect(results.map(({ rows, rowsAffected }) => [rows, rowsAffected])).toEqual([
      [[], 0],
      [[], 2],
      [[[1], [null]], 0],
    ])
    const error = await failure(() =>
      client.sqlite.batch({
        statements: ["delete from batched", "insert into nowhere values (1)"],
      }),
    )
    expect(error.message).toBe("400 Cannot run statement 2: no such table: nowhere")
    expect(
      (await client.sqlite.batch({ statements: ["select count(*) from batched"], mode: "read" }))[0]
        ?.rows,
    ).toEqual([[2]])
  },
  async sendEmail({ client }) {
    const error = await failure(() =>
      client.emails.send({ subject: "Hi", text: "é", to: ["a@b.example"] }),
    )
    expect(error).toMatchObject({ status: 501, error: { code: "mail_unavailable" } })
  },
  async getModule({ client }) {
    expect(await client.get<object, string>("/v/ada/library@1")).toBe("export const one = 1;\n")
  },
  async getBackup({ loopback }) {
    const response = await openClient(loopback, loopback.api.admin.token).get<object, Response>(
      "/v1/backup",
      { __binaryResponse: true },
    )
    const checker = createBackupChecker()
    checker.add(new Uint8Array(await response.arrayBuffer()))
    expect(checker.end().trailer.missing).toEqual([])
  },
}

describeSqlite("sdk: the official Val Town client", (open) => {
  let scene: Scene

  beforeAll(async () => {
    const loopback = await openLoopback(open, { HAMLET_DATA_DIR_SHARED: "yes" })
    const sample = await createSampleData(loopback.api, loopback.baseUrl)
    scene = { loopback, sample, client: openClient(loopback, sample.ada.token) }
  })

  afterAll(() => scene.loopback.close())

  describe("calls", () => {
    for (const name of Object.keys(calls) as RouteName[]) {
      const { method, path }: RouteDefinition = routes[name]
      test(`${method.toUpperCase()} ${path} and parses the response`, () => calls[name]?.(scene))
    }
  })

  test("iterates a list page by page along the links, keeping its filters", async () => {
    const { client, loopback, sample } = scene
    const before = loopback.seen.length
    const query = { limit: 1, error: false, source: "api,http" }
    const first = await client.getAPIList<Run, PageCursorURL<Run>>("/v1/me/runs", PageCursorURL, {
      query,
    })
    const pages = await Array.fromAsync(first.iterPages())

    expect(pages.map((page) => page.data.map((run) => run.id))).toEqual([
      [sample.runs[2]?.id ?? ""],
      [sample.runs[0]?.id ?? ""],
    ])
    const asked = loopback.seen.slice(before).map((request) => Object.fromEntries(request.query))
    expect(asked).toEqual([
      { limit: "1", error: "false", source: "api,http" },
      { limit: "1", error: "false", source: "api,http", offset: "1", cursor: expect.any(String) },
    ])
  })

  describe("throws by status", () => {
    test("BadRequestError with the issues", async () => {
      const error = await failure(() =>
        scene.client.post("/v1/vals", { body: { name: "1st", code: "1" } }),
      )
      expect(error).toBeInstanceOf(ValTown.BadRequestError)
      expect(error.error).toMatchObject({ code: "invalid_request", issues: [{ path: "name" }] })
      expect(error.message).toStartWith('400 Cannot accept the request: "name"')
    })

    test("AuthenticationError for an unknown token", async () => {
      const error = await failure(() =>
        openClient(scene.loopback, "x".repeat(40)).me.profile.retrieve(),
      )
      expect(error).toBeInstanceOf(ValTown.AuthenticationError)
      expect(error.headers?.["www-authenticate"]).toBe("Bearer")
    })

    test("PermissionDeniedError with the message that clients look for", async () => {
      const made = await scene.client.post<object, Output<"createToken">>("/v1/me/tokens", {
        body: { name: "r", scopes: ["val:read"] },
      })
      const error = await failure(() =>
        openClient(scene.loopback, made.token).post("/v1/vals", { body: { code: "1" } }),
      )
      expect(error).toBeInstanceOf(ValTown.PermissionDeniedError)
      expect(error.message).toContain("required permissions")
      expect(error.message).toContain("val:write")
    })

    test("NotFoundError, also for what does not exist", async () => {
      const missing = await failure(() => scene.client.get(`/v1/vals/${crypto.randomUUID()}`))
      expect(missing).toBeInstanceOf(ValTown.NotFoundError)
      expect(missing.error).toMatchObject({
        code: "val_not_found",
        statusCode: 404,
        error: "Not Found",
      })
      const unknown = await failure(() => scene.client.get("/v2/nothing"))
      expect(unknown).toBeInstanceOf(ValTown.NotFoundError)
      expect(unknown.error).toMatchObject({ code: "route_not_found" })
    })

    test("UnprocessableEntityError for an Idempotency-Key of another request", async () => {
      const headers = { "Idempotency-Key": "once" }
      const made = await scene.client.post<object, Output<"createVal">>("/v1/vals", {
        body: { code: "1" },
        headers,
      })
      const again = await scene.client.post<object, Output<"createVal">>("/v1/vals", {
        body: { code: "1" },
        headers,
      })
      expect(again).toEqual(made)
      const error = await failure(() =>
        scene.client.post("/v1/vals", { body: { code: "2" }, headers }),
      )
      expect(error).toBeInstanceOf(ValTown.UnprocessableEntityError)
      expect(error.error).toMatchObject({ code: "idempotency_mismatch" })
    })

    test.each([
      [
        412,
        "version_conflict",
        (client: ValTown, id: string) =>
          client.delete(`/v1/vals/${id}`, { headers: { "If-Match": '"1"' } }),
      ],
      [
        405,
        "method_not_allowed",
        (client: ValTown, id: string) => client.patch(`/v1/vals/${id}`, { body: {} }),
      ],
      [
        413,
        "body_too_large",
        (client: ValTown) => client.post("/v1/vals", { body: { code: "x".repeat(3_000_000) } }),
      ],
    ] as const)(
      "APIError with status %i that has no class of its own",
      async (status, code, call) => {
        const error = await failure(() => call(scene.client, scene.sample.library.id))
        expect(error.constructor).toBe(ValTown.APIError)
        expect(error.status).toBe(status)
        expect(error.error).toMatchObject({ code })
      },
    )
  })

  describe("does not retry", () => {
    const conflicts: Record<string, (scene: Scene) => Promise<unknown>> = {
      name_taken: ({ client }) => client.post("/v1/vals", { body: { name: "LIBRARY", code: "1" } }),
      username_taken: ({ loopback }) =>
        openClient(loopback, loopback.api.admin.token).post("/v1/users", {
          body: { username: "Bob" },
        }),
      last_version: ({ client, sample }) =>
        client.delete(`/v1/vals/${sample.library.id}/versions/2`),
    }

    test.each(Object.keys(conflicts))("after 409 %s", async (code) => {
      const { loopback, client, sample } = scene
      if (code === "last_version") await client.delete(`/v1/vals/${sample.library.id}/versions/1`)
      const before = loopback.seen.length
      const error = await failure(() => conflicts[code]?.(scene) ?? Promise.resolve())
      expect(error).toBeInstanceOf(ValTown.ConflictError)
      expect(error.error).toMatchObject({ code })
      expect(error.headers?.["x-should-retry"]).toBe("false")
      expect(loopback.seen.length - before).toBe(1)
    })
  })

  test("retries a 429 after retry-after", async () => {
    const loopback = await openLoopback(open, { HAMLET_RATE_PER_TOKEN: "60" })
    const { token } = await loopback.api.addUser("eager")
    const impatient = openClient(loopback, token, 0)
    const error = await waitUntil(() =>
      failure(() => impatient.me.profile.retrieve()).catch(() => undefined),
    )
    expect(error).toBeInstanceOf(ValTown.RateLimitError)
    expect(error.error).toMatchObject({ code: "rate_limited" })
    expect(Number(error.headers?.["retry-after"])).toBe(1)

    // The bucket may have filled in between, so the first call is not always the one that is
    // refused.
    const patient = openClient(loopback, token)
    await waitUntil(async () => {
      expect((await patient.me.profile.retrieve()).username).toBe("eager")
      return loopback.seen.some(isRetry)
    })
    await loopback.close()
  })

  test("retries while the database is unavailable, and then throws InternalServerError", async () => {
    const loopback = await openLoopback(open)
    const { token } = await loopback.api.addUser("eve")
    await loopback.api.hamlet.stop()
    const error = await failure(() => openClient(loopback, token, 1).me.profile.retrieve())
    expect(error).toBeInstanceOf(ValTown.InternalServerError)
    expect(error.error).toMatchObject({ code: "database_unavailable", statusCode: 503 })
    expect(loopback.seen.filter((request) => request.path === "/v1/me").map(isRetry)).toEqual([
      false,
      true,
    ])
    await loopback.close()
  })
})

function openClient(loopback: Loopback, token: string, maxRetries = 2): ValTown {
  return new ValTown({ baseURL: loopback.baseUrl, bearerToken: token, maxRetries })
}

/** The client sends bytes as they are, and files as JSON, which its types do not tell. */
function toUpload(content: string | Uint8Array): ValTown.BlobStoreParams {
  return Buffer.from(content as string) as unknown as ValTown.BlobStoreParams
}

/** Everything in a list, asked for one at a time through the client's own iterator. */
function list<Name extends PageName>(
  client: ValTown,
  _name: Name,
  path: string,
  query: object = {},
): Promise<Item<Name>[]> {
  return Array.fromAsync(
    client.getAPIList<Item<Name>, PageCursorURL<Item<Name>>>(path, PageCursorURL, {
      query: { ...query, limit: 1 },
    }),
  )
}

async function listIds(
  client: ValTown,
  name: PageName,
  path: string,
  query: object = {},
): Promise<(string | undefined)[]> {
  return (await list(client, name, path, query)).map((item) => ("id" in item ? item.id : undefined))
}

/** A val with a name that the server makes up. */
function addVal(client: ValTown): Promise<Output<"createVal">> {
  return client.post<object, Output<"createVal">>("/v1/vals", { body: { code: "1" } })
}

/** What the call fails with. */
async function failure(
  call: () => PromiseLike<unknown>,
): Promise<InstanceType<typeof ValTown.APIError>> {
  try {
    await call()
  } catch (error) {
    if (error instanceof ValTown.APIError) return error
    throw error
  }
  throw new Error("the call did not fail")
}

function isRetry(request: { readonly headers: Headers }): boolean {
  return request.headers.get("x-stainless-retry-count") !== "0"
}
