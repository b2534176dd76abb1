import { afterEach, describe, expect, setSystemTime, test } from "bun:test"
import { limits, type RouteDefinition, type RouteName, routeNames, routes } from "@hamlet/contract"
import { addWaitingEmail } from "../authorization/waiting-email.ts"
import { listen } from "../fuzz/listen.ts"
import { expectStatus, testBaseUrl } from "../support/api.ts"
import {
  type ApiSuite,
  describeSqliteApi,
  namesOf,
  nextMillisecond,
  once,
  refusalOf,
} from "./suite.ts"

const missing = "01890000-0000-7000-8000-000000000000"

/** Every GET route there is. */
const reads = routeNames.filter((name) => routes[name].method === "get")

describeSqliteApi("api/http", (suite) => {
  afterEach(() => void setSystemTime())
  describe("a path", () => definePaths(suite))
  describe("a method", () => defineMethods(suite))
  describe("HEAD", () => defineHead(suite))
  describe("a request id", () => defineRequestIds(suite))
  describe("an error", () => defineErrors(suite))
  describe("another origin", () => defineCors(suite))
  describe("a page of a list", () => definePages(suite))
  describe("since and until", () => defineTimes(suite))
})

/**
 * A path for every GET route: something that is there, and may be read by the administrator. It
 * does not change while it is read: the clock stands still for the rest of the test, deliveries
 * change by requests only, and the use of the administrator's token has been recorded.
 */
async function pathsOf({ api, call, val, run }: ApiSuite): Promise<ReadonlyMap<string, string>> {
  setSystemTime(new Date())
  await api.hamlet.parts.webhooks.worker.stop()
  const made = await val(api.admin, { type: "interval" })
  const { id } = await run(made)
  const as = api.admin
  expectStatus(
    await call("PUT", `/v1/vals/${made.id}/schedule`, { as, body: { every: "1d" } }),
    200,
  )
  const body = { url: "https://receiver.invalid/", events: ["val.saved"] }
  const webhook = expectStatus(await call("POST", "/v1/me/webhooks", { as, body }), 201).json
  const sent = await call("POST", `/v1/me/webhooks/${webhook.id}/test`, { as })
  for (const path of ["/v1/blob/every%20read", `/v2/blob/every%20read?val_id=${made.id}`])
    expectStatus(await call("POST", path, { as: api.admin, body: "x" }), 201)
  const org = await call("POST", "/v1/orgs", { as, body: { username: `org${made.id.slice(-8)}` } })
  const values: Record<string, string> = {
    val_id: made.id,
    version: "1",
    user_id: api.admin.id,
    username: "admin",
    val_name: made.name,
    branch_id: made.id,
    file_id: made.id,
    run_id: id,
    key: "every%20read",
    module: "blob",
    webhook_id: webhook.id,
    org_id: expectStatus(org, 201).json.id,
    delivery_id: expectStatus(sent, 202).json.id,
    email_id: await addWaitingEmail(api, api.admin),
  }
  await api.hamlet.nouns.tokenUses.stop()
  const toPath = (route: RouteDefinition) =>
    route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? missing)
  return new Map(reads.map((name) => [name, toPath(routes[name]) + toQuery(name, made.id)]))
}

/** What a route needs to be asked, and to answer the same when it is asked twice. */
function toQuery(name: RouteName, valId: string): string {
  if (name === "listValBlobs" || name === "getValBlob") return `?val_id=${valId}`
  if (name === "searchVals") return "?query=x"
  if (name === "listFiles" || name === "getFileContent") return "?path=main.tsx"
  if (name === "previewSchedule") return "?cron=0+0+1+1+*"
  return /Stats$/.test(name) ? "?since=2026-01-01T00:00:00.000Z&until=2026-01-02T00:00:00.000Z" : ""
}

/**
 * What differs from one moment to the next: counts of requests, the last hours, a stream that names
 * its moment.
 */
const passing: ReadonlySet<string> = new Set(["getMetrics", "listMyActivity", "getBackup"])

function definePaths(suite: ApiSuite): void {
  const { call } = suite

  test("may end in a slash on every route of the API and of modules, and on no other", async () => {
    for (const [name, path] of await pathsOf(suite)) {
      // The key of a blob, the path of a file and code may end in one, and are others then.
      if (["getBlob", "getValBlob", "getModuleFile", "evalCodeByQuery"].includes(name)) continue
      const plain = await call("GET", path, { as: suite.api.admin })
      const slashed = await call("GET", path.replace(/(\?|$)/, "/$1"), { as: suite.api.admin })
      const mayEndInSlash = /^\/v[12]\//.test(path) || name === "getModule"
      expect([name, slashed.status]).toEqual([name, mayEndInSlash ? 200 : 404])
      if (!mayEndInSlash) expect([name, slashed.json.code]).toEqual([name, "route_not_found"])
      else if (!passing.has(name)) expect([name, slashed.text]).toEqual([name, plain.text])
    }
  })

  test("may end in a slash on routes that write", async () => {
    const { id } = expectStatus(
      await call("POST", "/v1/vals/", { as: suite.api.admin, body: { code: "1" } }),
      200,
    ).json
    expectStatus(await call("PUT", `/v1/vals/${id}/like/`, { as: suite.api.admin }), 204)
    expectStatus(await call("DELETE", `/v1/vals/${id}/`, { as: suite.api.admin }), 204)
  })

  for (const path of [
    "/nowhere",
    "/v1",
    "/v1/",
    "/v2/me",
    "/me",
    "/v1/val",
    "/v1/vals//",
    "//v1/vals",
    "/v1//vals",
    "/v1/me/nothing",
    "/V1/me",
    "/v1/Me",
    "/docs/x",
    "/v/ada",
  ]) {
    test(`${path} is 404, with a token or without`, async () => {
      for (const as of [undefined, suite.api.admin])
        expect(refusalOf(await call("GET", path, { as }))).toEqual([404, "route_not_found"])
    })
  }
}

function defineMethods(suite: ApiSuite): void {
  const { call } = suite

  for (const [method, path, allow] of [
    ["POST", "/v1/me", "GET, HEAD, OPTIONS, PUT"],
    ["PATCH", "/v1/vals", "GET, HEAD, OPTIONS, POST, PUT"],
    ["POST", `/v1/vals/${missing}`, "DELETE, GET, HEAD, OPTIONS, PUT"],
    ["PUT", `/v1/vals/${missing}/versions`, "GET, HEAD, OPTIONS, POST"],
    ["POST", `/v1/vals/${missing}/like`, "DELETE, GET, HEAD, OPTIONS, PUT"],
    ["GET", "/v1/me/session", "DELETE, OPTIONS"],
    ["HEAD", "/v1/me/session", "DELETE, OPTIONS"],
    ["DELETE", "/v1/me/tokens", "GET, HEAD, OPTIONS, POST"],
    ["DELETE", "/healthz", "GET, HEAD, OPTIONS"],
    ["POST", "/", "GET, HEAD, OPTIONS"],
    ["PUT", "/assets/x.js", "GET, HEAD, OPTIONS"],
    ["DELETE", "/v1/vals/not-an-id/runs/", "GET, HEAD, OPTIONS, POST"],
  ] as const) {
    test(`${method} ${path} is 405 with the allowed methods`, async () => {
      const answer = expectStatus(await call(method, path), 405)
      expect(answer.headers.get("allow")).toBe(allow)
      if (method !== "HEAD")
        expect(answer.json).toMatchObject({
          code: "method_not_allowed",
          message: expect.stringContaining(method),
        })
    })
  }
}

function defineHead(suite: ApiSuite): void {
  test("responds like GET on every route, without the body", async () => {
    const server = listen(suite.api)
    try {
      const headers = {
        authorization: `Bearer ${suite.api.admin.token}`,
        connection: "close",
        "accept-encoding": "identity",
      }
      for (const [name, path] of [
        ...(await pathsOf(suite)),
        ["a val that is not there", `/v1/vals/${missing}`],
        ["no route", "/nowhere"],
      ] as const) {
        const [got, head] = await Promise.all(
          ["GET", "HEAD"].map((method) =>
            fetch(`http://127.0.0.1:${server.port}${path}`, { method, headers }),
          ),
        )
        expect([name, head?.status]).toEqual([name, got?.status])
        expect([name, head?.headers.get("content-type")]).toEqual([
          name,
          got?.headers.get("content-type") ?? null,
        ])
        expect([name, head?.headers.get("etag")]).toEqual([name, got?.headers.get("etag") ?? null])
        const body = await got?.bytes()
        expect((await head?.bytes())?.length).toBe(0)
        // Every error has an id of its own, which is as long as any other.
        if (!passing.has(name))
          expect([name, Number(head?.headers.get("content-length"))]).toEqual([
            name,
            body?.length ?? -1,
          ])
      }
    } finally {
      await server.stop(true)
    }
  })

  test("of a missing resource is 404, and needs a token where GET does", async () => {
    expectStatus(await suite.call("HEAD", `/v1/vals/${missing}`), 404)
    expectStatus(await suite.call("HEAD", "/v1/me"), 401)
  })
}

function defineRequestIds({ call, addUser: person }: ApiSuite): void {
  test("is unique in every response, and in the body of every error", async () => {
    const ada = await person()
    const responses = [
      await call("GET", "/v1/me", { as: ada }),
      await call("GET", "/v1/me"),
      await call("GET", "/nowhere"),
      await call("PATCH", "/v1/vals"),
      await call("OPTIONS", "/v1/vals"),
      await call("POST", "/v1/vals", { as: ada, body: "{" }),
      await call("GET", "/"),
    ]
    const ids = responses.map(({ headers }) => headers.get("x-request-id"))
    for (const id of ids) expect(id).toMatch(/^[0-9a-f-]{36}$/)
    expect(new Set(ids).size).toBe(ids.length)
    for (const [index, { json }] of responses.entries())
      if (json?.statusCode) expect(json.requestId).toBe(ids[index])
  })

  test("is chosen by the server, not by the client", async () => {
    const answer = await call("GET", "/healthz", { headers: { "x-request-id": "mine" } })
    expect(answer.headers.get("x-request-id")).not.toBe("mine")
  })
}

function defineErrors({ call, addUser: person, val }: ApiSuite): void {
  test("has status, name, code, message and request id, and nothing else", async () => {
    const answer = expectStatus(await call("GET", `/v1/vals/${missing}`), 404)
    expect(answer.json).toEqual({
      statusCode: 404,
      error: "Not Found",
      code: "val_not_found",
      message: `Cannot find val "${missing}"`,
      requestId: answer.headers.get("x-request-id"),
    })
    expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8")
  })

  test("about invalid input names every invalid field", async () => {
    const body = { name: "a b", code: "", privacy: "secret" }
    const { json } = expectStatus(await call("POST", "/v1/vals", { as: await person(), body }), 400)
    expect(json.issues.map(({ path }: { path: string }) => path).sort()).toEqual([
      "code",
      "name",
      "privacy",
    ])
    for (const { message } of json.issues) expect(message).toBeTruthy()
  })

  test("sends x-should-retry: false only with statuses that clients retry", async () => {
    const ada = await person()
    await val(ada, { name: "taken" })
    const conflict = expectStatus(
      await call("POST", "/v1/vals", { as: ada, body: { name: "taken", code: "1" } }),
      409,
    )
    expect(conflict.headers.get("x-should-retry")).toBe("false")
    for (const answer of [
      await call("GET", "/nowhere"),
      await call("GET", "/v1/me"),
      await call("GET", "/v1/vals?limit=0"),
    ]) {
      expect(answer.headers.get("x-should-retry")).toBeNull()
      expect(answer.headers.get("retry-after")).toBeNull()
    }
  })
}

function defineCors({ call, addUser: person }: ApiSuite): void {
  const origin = "https://elsewhere.test"

  test("may call every route and read responses and errors, but never with cookies", async () => {
    const ada = await person()
    for (const answer of [
      await call("GET", "/v1/me", { as: ada, headers: { origin } }),
      await call("GET", "/v1/me", { headers: { origin } }),
      await call("GET", "/nowhere", { headers: { origin } }),
      await call("POST", "/v1/me", { headers: { origin } }),
    ]) {
      expect(["*", origin]).toContain(answer.headers.get("access-control-allow-origin") ?? "")
      expect(answer.headers.get("access-control-allow-credentials")).toBeNull()
      const exposed = answer.headers.get("access-control-expose-headers")?.split(", ")
      for (const name of ["x-request-id", "retry-after", "x-should-retry", "etag", "location"])
        expect(exposed).toContain(name)
    }
  })

  for (const [path, methods] of [
    ["/v1/vals", ["GET", "HEAD", "OPTIONS", "POST", "PUT"]],
    [`/v1/vals/${missing}/versions/1`, ["DELETE", "GET", "HEAD", "OPTIONS"]],
    ["/v1/me/secrets/KEY/", ["DELETE", "OPTIONS", "PUT"]],
  ] as const) {
    test(`gets the allowed methods and headers in a preflight to ${path}`, async () => {
      const headers = {
        origin,
        "access-control-request-method": methods[0],
        "access-control-request-headers": "authorization",
      }
      const answer = expectStatus(await call("OPTIONS", path, { headers }), 204)
      expect(answer.headers.get("access-control-allow-origin")).toBe("*")
      expect(answer.headers.get("access-control-allow-methods")?.split(", ")).toEqual([...methods])
      const allowed = answer.headers.get("access-control-allow-headers")?.split(", ")
      for (const name of [
        "authorization",
        "content-type",
        "idempotency-key",
        "if-match",
        "if-none-match",
      ])
        expect(allowed).toContain(name)
      expect(Number(answer.headers.get("access-control-max-age"))).toBeGreaterThan(0)
      expect(answer.headers.get("access-control-allow-credentials")).toBeNull()
    })
  }

  test.each([
    ["PATCH", "/v1/vals", 405, "method_not_allowed"],
    ["DELETE", "/v1/vals", 405, "method_not_allowed"],
    ["PROPFIND", "/v1/me", 405, "method_not_allowed"],
    ["PUT", "/v1/nowhere", 404, "route_not_found"],
    ["DELETE", "/mcp", 405, "method_not_allowed"],
    ["PUT", "/v2/nowhere", 404, "route_not_found"],
  ])("gets past a preflight to the refusal of %s %s", async (method, path, status, code) => {
    const headers = { origin, "access-control-request-method": method }
    const answer = expectStatus(await call("OPTIONS", path, { headers }), 204)
    expect(answer.headers.get("access-control-allow-methods")?.split(", ")).toContain(method)
    expect(answer.headers.get("allow")?.split(", ")).not.toContain(method)
    const refused = await call(method, path, { headers: { origin } })
    expect(refusalOf(refused)).toEqual([status, code])
    expect(refused.headers.get("access-control-allow-origin")).toBe("*")
  })

  test.each(["P UT", "a".repeat(33), "PUT, DELETE", "<x>", ""])(
    "gets no method in a preflight that is not one: %j",
    async (method) => {
      const headers = { origin, "access-control-request-method": method }
      const answer = expectStatus(await call("OPTIONS", "/v1/me/session", { headers }), 204)
      expect(answer.headers.get("access-control-allow-methods")).toBe("DELETE, OPTIONS")
    },
  )
}

function definePages(suite: ApiSuite): void {
  const { call, addUser: person, val } = suite
  const lists = reads.filter(
    (name) => "offset" in ((routes[name] as RouteDefinition).query?.shape ?? {}),
  )

  /** A user with 45 secrets, newest first. All tests share it, because none changes it. */
  const withSecrets = once(async () => {
    const ada = await person()
    const names = Array.from({ length: 45 }, (_, index) => `S${String(index).padStart(2, "0")}`)
    for (const name of names.toReversed()) {
      expectStatus(
        await call("PUT", `/v1/me/secrets/${name}`, { as: ada, body: { value: "v" } }),
        204,
      )
      await nextMillisecond()
    }
    return { ada, names }
  })

  test("has 20 items by default, and limit may be 1 to 100", async () => {
    const { ada, names } = await withSecrets()
    const ask = async (query: string) =>
      namesOf(await call("GET", `/v1/me/secrets${query}`, { as: ada }))
    expect(await ask("")).toEqual(names.slice(0, 20))
    expect(await ask("?limit=1")).toEqual(names.slice(0, 1))
    expect(await ask("?limit=100")).toEqual(names)
    expect(await ask("?limit=007&offset=010")).toEqual(names.slice(10, 17))
    expect(await ask("?offset=44")).toEqual(names.slice(44))
    expect(await ask("?offset=45")).toEqual([])
    expect(await ask("?offset=999999999999999")).toEqual([])
  })

  test("has links that page through the whole list, forwards and backwards", async () => {
    const { ada, names } = await withSecrets()
    const seen: string[] = []
    let url: string | undefined = `${testBaseUrl}/v1/me/secrets?limit=20`
    let last = url
    for (let page = 0; url !== undefined && page < names.length; page += 1) {
      const answer = await call("GET", url.slice(testBaseUrl.length), { as: ada })
      seen.push(...namesOf(answer))
      last = answer.json.links.self
      url = answer.json.links.next
    }
    expect(seen).toEqual(names)
    const back: (readonly string[])[] = []
    url = last
    for (let page = 0; url !== undefined && page < names.length; page += 1) {
      const answer = await call("GET", url.slice(testBaseUrl.length), { as: ada })
      back.unshift(namesOf(answer))
      url = answer.json.links.prev
    }
    expect(back.flat()).toEqual(names)
  })

  for (const [query, expected] of [
    ["", { self: [0, 20], next: [20, 20] }],
    ["?limit=100", { self: [0, 100] }],
    ["?limit=45", { self: [0, 45] }],
    ["?limit=44", { self: [0, 44], next: [44, 44] }],
    ["?limit=10&offset=5", { self: [5, 10], next: [15, 10], prev: [0, 10] }],
    ["?limit=10&offset=40", { self: [40, 10], prev: [30, 10] }],
    ["?limit=10&offset=500", { self: [500, 10], prev: [490, 10] }],
  ] as const) {
    test(`${query || "without a query"} has exactly the links ${Object.keys(expected)}`, async () => {
      const { ada } = await withSecrets()
      const { json } = expectStatus(await call("GET", `/v1/me/secrets${query}`, { as: ada }), 200)
      const links = Object.entries(json.links).map(([name, url]) => {
        expect(String(url)).toStartWith(`${testBaseUrl}/v1/me/secrets?`)
        const { searchParams } = new URL(String(url))
        return [name, [Number(searchParams.get("offset")), Number(searchParams.get("limit"))]]
      })
      expect(Object.fromEntries(links)).toEqual(expected)
    })
  }

  test("links to the configured base URL, not to the Host header", async () => {
    const response = await suite.api.hamlet.app.request("http://evil.test:99/v1/vals/?limit=1", {
      headers: { host: "evil.test", "x-forwarded-host": "evil.test" },
    })
    const { links } = (await response.json()) as { links: { self: string } }
    expect(links.self).toBe(`${testBaseUrl}/v1/vals?limit=1&offset=0`)
  })

  test("keeps the other query parameters in its links", async () => {
    const ada = await person()
    for (const name of ["a1", "a2", "a3"]) await val(ada, { name, code: "a & b = ü%" })
    const query = "query=%26+b+%3D+%C3%BC%25&limit=1"
    const { json } = expectStatus(await call("GET", `/v1/search/vals?${query}`, { as: ada }), 200)
    const next = new URL(json.links.next)
    expect(Object.fromEntries(next.searchParams)).toEqual({
      query: "& b = ü%",
      limit: "1",
      offset: "1",
      cursor: expect.any(String),
    })
    const second = await call("GET", next.pathname + next.search, { as: ada })
    expect(namesOf(second)).toEqual(["a2"])
  })

  const paths = once(() => pathsOf(suite))
  for (const query of [
    ...[
      "0",
      "101",
      "-1",
      "1.5",
      "1e1",
      "abc",
      "",
      "%20",
      "+5",
      "0x10",
      "NaN",
      "null",
      "٣",
      "99999999999999999999",
    ].map((limit) => `limit=${limit}`),
    ...["-1", "1.5", "abc", "", "1e3", "9999999999999999", "null"].map(
      (offset) => `offset=${offset}`,
    ),
    "limit=1&limit=2",
    "offset=0&offset=0",
  ]) {
    test(`refuses ${query} on every list`, async () => {
      for (const name of lists) {
        const path = (await paths()).get(name) ?? ""
        const answer = await call("GET", `${path}${path.includes("?") ? "&" : "?"}${query}`, {
          as: suite.api.admin,
        })
        expect([name, ...refusalOf(answer)]).toEqual([name, 400, "invalid_request"])
        expect(answer.json.issues[0].path).toBe(query.split("=")[0])
      }
    })
  }

  test("ignores unknown parameters", async () => {
    expectStatus(
      await call("GET", "/v1/vals?page=2&limit[]=500&__proto__=1&constructor=x&LIMIT=0"),
      200,
    )
  })

  test("of every list has only items and links", async () => {
    for (const name of lists) {
      const { json } = expectStatus(
        await call("GET", (await paths()).get(name) ?? "", { as: suite.api.admin }),
        200,
      )
      expect([name, Object.keys(json).sort()]).toEqual([name, ["data", "links"]])
      expect(json.data.length).toBeLessThanOrEqual(limits.pageItemsDefault)
    }
  })
}

function defineTimes(suite: ApiSuite): void {
  const { call, addUser: person, sharedUser: anybody } = suite
  const paths = ["/v1/me/runs", "/v1/me/comments", "/v1/me/references"]

  /** A user with a run at noon, and the number of their runs in a period. */
  const withRun = once(async () => {
    const ada = await person()
    await suite.run(await suite.val(ada), { startedAt: Date.parse("2024-05-01T12:00:00.000Z") })
    return async (query: string) =>
      expectStatus(await call("GET", `/v1/me/runs?${query}`, { as: ada }), 200).json.data.length
  })

  for (const [query, count] of [
    ["since=2024-05-01T12:00:00.000Z", 0],
    ["since=2024-05-01T11:59:59.999Z", 1],
    ["until=2024-05-01T12:00:00.000Z", 1],
    ["until=2024-05-01T11:59:59.999Z", 0],
    ["since=2024-05-01T14:00:00%2B02:00", 0],
    ["since=2024-05-01T14:00:00.001%2B02:00", 0],
    ["since=2024-05-01T13:59:59%2B02:00", 1],
    ["until=2024-05-01T14:00:00+02:00", 1],
    ["until=2024-05-01T06:30:00-0530", 1],
    ["until=2024-05-01T06:29:59-0530", 0],
    ["until=2024-05-01T12:00Z", 1],
    ["until=2024-05-01t12:00:00z", 1],
    ["until=2024-05-01T12:00:00.000000001Z", 1],
    ["until=2024-05-01T12:00:00,5Z", 1],
    ["since=0000-01-01T00:00:00Z", 1],
    ["until=9999-12-31T23:59:59.999Z", 1],
    ["until=2024-05-01T12:00:00", 1],
    ["until=2024-05-01T11:59:59", 0],
    ["until=2024-05-01", 0],
    ["since=2024-05-01", 1],
    ["since=2024-04-30T00:00:00Z&until=2024-05-02T00:00:00Z", 1],
  ] as const) {
    test(`${query} ${count === 1 ? "includes" : "excludes"} an item at noon`, async () => {
      expect(await (await withRun())(query)).toBe(count)
    })
  }

  for (const time of [
    "",
    "yesterday",
    "2024",
    "2024-05-01 12:00:00Z",
    "1714564800000",
    "2024-02-30T00:00:00Z",
    "2024-13-01T00:00:00Z",
    "2024-05-01T25:00:00Z",
    "2024-05-01T12:60:00Z",
    "-2024-05-01T12:00:00Z",
    "12024-05-01T12:00:00Z",
    "2024-05-01T12:00:00ZZ",
    "now",
    "2024-05-01T12Z",
  ]) {
    test(`refuses "${time}"`, async () => {
      const ada = await anybody()
      for (const path of paths) {
        for (const name of ["since", "until"]) {
          const answer = await call("GET", `${path}?${name}=${encodeURIComponent(time)}`, {
            as: ada,
          })
          expect(refusalOf(answer)).toEqual([400, "invalid_request"])
          expect(answer.json.issues[0].path).toBe(name)
        }
      }
    })
  }
}
