import { describe, expect, test } from "bun:test"
import { once } from "node:events"
import { connect } from "node:net"
import { type RouteDefinition, routeNames, routes } from "@hamlet/contract"
import { sql } from "@hamlet/database"
import { Validator } from "@seriousme/openapi-schema-validator"
import { listenForMetrics } from "../../src/commands/metrics-port.ts"
import { loadConfig } from "../../src/config/config.ts"
import { expectStatus, openApi, testBaseUrl } from "../support/api.ts"
import { describeEachDatabase, describeSqlite, type TestDatabase } from "../support/databases.ts"
import { idleStatus } from "../support/fakes/idle-status.ts"
import { describeSqliteApi, refusalOf } from "./suite.ts"

describeSqliteApi("api/system", (suite) => {
  const { call } = suite

  test("GET at the paths of the web app returns its page with a CSP for its own scripts only, and its files exist", async () => {
    for (const path of [
      "/",
      "/runs",
      "/u/ada/hello",
      "/account/tokens",
      "/sign-in",
      "/oauth/device",
      "/oauth/authorize",
    ]) {
      const answer = expectStatus(await call("GET", path), 200)
      expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8")
      const policy = answer.headers.get("content-security-policy") ?? ""
      expect(policy).toMatch(/script-src [^;' ]+\/assets\/[^;']*;/)
      expect(policy).toContain("frame-ancestors 'none'")
      expect(policy).not.toMatch(/script-src[^;]*unsafe|default-src[^;]*unsafe/)
      const [, file = ""] = /<script type="module" src="([^"]+)"/.exec(answer.text) ?? []
      const script = expectStatus(
        await call("GET", file, { headers: { "accept-encoding": "br" } }),
        200,
      )
      expect(script.headers.get("content-encoding")).toBe("br")
      expect(script.headers.get("cache-control")).toBe("public, max-age=31536000, immutable")
    }
    expect(
      (await call("GET", "/embed/ada/hello")).headers.get("content-security-policy"),
    ).toContain("frame-ancestors *")
  }, 120_000)

  test("the pages that links of /v2 name lead to the page of the val", async () => {
    for (const rest of ["", "/code/lib/db.ts", "/branch/try/code/main.tsx"]) {
      const { status, headers } = await call("GET", `/x/ada/hello${rest}`)
      expect([status, headers.get("location")]).toEqual([302, `${testBaseUrl}/u/ada/hello`])
    }
    const { headers } = await call("GET", "/x//evil.test/%0d%0aa")
    expect(headers.get("location")).toBeNull()
  })

  test("the web app responds at no other path", async () => {
    for (const path of [
      "//",
      "//healthz",
      "/nothing",
      "/assets/",
      "/assets/../package.json",
      "/assets/manifest.json",
      "/assets/main.js",
      "/oauth",
      "/oauth/auth",
      "/oauth/reg",
      "/oauth/me",
    ])
      expect(refusalOf(await call("GET", path))).toEqual([404, "route_not_found"])
    expect(refusalOf(await call("POST", "/", { body: {} }))).toEqual([405, "method_not_allowed"])
  }, 120_000)

  test("the page of a val names it to other programs, unless the val is private", async () => {
    const ada = await suite.addUser()
    const open = async (name: string, privacy: string) => {
      const body = { name, privacy, code: "export default 1", readme: '# What "it" <does>' }
      expectStatus(await call("POST", "/v1/vals", { as: ada, body }), 200)
      return call("GET", `/u/${ada.username}/${name}/versions`)
    }
    const unlisted = await open("shared", "unlisted")
    expect(unlisted.headers.get("x-robots-tag")).toBe("noindex")
    expect((await open("known", "public")).headers.has("x-robots-tag")).toBe(false)
    const embedded = await call("GET", `/embed/${ada.username}/shared`)
    expect(embedded.headers.get("x-robots-tag")).toBe("noindex")
    const shared = unlisted.text
    const kept = (await open("kept", "private")).text
    expect(shared).toContain(`<title>${ada.username}/shared · Hamlet</title>`)
    expect(shared).toContain(
      '<meta property="og:description" content="What &quot;it&quot; &lt;does&gt;">',
    )
    expect(shared).toMatch(/property="og:url" content="[^"]+\/u\/\w+\/shared"/)
    expect(kept).toContain("<title>Hamlet</title>")
    expect(kept).not.toContain("og:")
    for (const path of ["/u/x/%00/y", "/u/%ff/x", "/u/ada/no_such"])
      expect((await call("GET", path)).text).toContain("<title>Hamlet</title>")
  }, 120_000)

  test("a browser at an unknown path gets a page that says so, and API paths stay JSON", async () => {
    const headers = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" }
    const page = expectStatus(await call("GET", "/nothing/here", { headers }), 404)
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8")
    expect(page.headers.get("content-security-policy")).toContain("frame-ancestors 'none'")
    for (const path of ["/v1", "/v1/nothing", "/assets/main.js"])
      expect(refusalOf(await call("GET", path, { headers }))).toEqual([404, "route_not_found"])
    expect(refusalOf(await call("POST", "/nothing", { headers, body: {} }))).toEqual([
      404,
      "route_not_found",
    ])
  }, 120_000)

  test("GET /healthz is 200 with the version", async () => {
    expect(expectStatus(await call("GET", "/healthz"), 200).json).toEqual({
      status: "ok",
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    })
  })

  test("GET /readyz is 200 with the kind of database", async () => {
    const { json } = expectStatus(await call("GET", "/readyz"), 200)
    expect(json).toEqual({
      status: "ok",
      version: expect.any(String),
      database: "SQLite",
      schemaVersion: expect.any(Number),
      isolation: "auto",
      warnings: [],
    })
  })

  test("GET /openapi.json is a valid document with every route and the address of this server", async () => {
    const { json } = expectStatus(await call("GET", "/openapi.json"), 200)
    expect(await new Validator().validate(structuredClone(json))).toMatchObject({ valid: true })
    expect(json.servers).toEqual([{ url: testBaseUrl }])
    for (const name of routeNames) {
      const route: RouteDefinition = routes[name]
      expect(json.paths[route.path][route.method].operationId).toBe(name)
    }
  })

  test("GET /docs is a page of the web app", async () => {
    const page = expectStatus(await call("GET", "/docs"), 200)
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8")
    expect(page.headers.get("content-security-policy")).toStartWith(
      "default-src 'none'; script-src hamlet.test/assets/;",
    )
  })

  describe("GET /metrics", () => {
    test("is Prometheus text that counts requests by route and status", async () => {
      const countOf = async () => {
        const { text } = expectStatus(await call("GET", "/metrics"), 200)
        return Number(
          /^hamlet_http_requests_total\{route="getVal",method="GET",status="404"\} (\d+)$/m.exec(
            text,
          )?.[1] ?? 0,
        )
      }
      const before = await countOf()
      for (let asked = 0; asked < 3; asked += 1)
        await call("GET", "/v1/vals/01890000-0000-7000-8000-000000000000")
      expect(await countOf()).toBe(before + 3)
    })

    test("contains no paths, names, ids or tokens", async () => {
      const ada = await suite.addUser()
      const { id, name } = await suite.val(ada, { name: "conspicuousName" })
      for (const path of [
        `/v1/vals/${id}`,
        `/v1/alias/${ada.username}/${name}`,
        "/nowhere/conspicuousPath",
      ])
        await call("GET", path, { as: ada })
      const { text, headers } = expectStatus(await call("GET", "/metrics"), 200)
      expect(headers.get("content-type")).toStartWith("text/plain; version=0.0.4")
      for (const secret of [id, name, ada.username, ada.token, "conspicuousPath"])
        expect(text).not.toContain(secret)
    })

    test("has no label for an unknown method", async () => {
      await suite.api.hamlet.app.request(`${testBaseUrl}/v1/vals`, { method: "PROPFIND" })
      expect((await call("GET", "/metrics")).text).not.toContain("PROPFIND")
    })
  })
})

describeSqlite("api/system with protected metrics", (open) => {
  const token = "a-token-of-the-metrics-0123456789-abcdef"

  test("GET /metrics needs the token of HAMLET_METRICS_TOKEN, and that token opens nothing else", async () => {
    const api = await openApi(open, { HAMLET_METRICS_TOKEN: token })
    try {
      const refused = [undefined, api.admin, `${token}0`, token.slice(1)]
      const statuses = []
      for (const as of refused) statuses.push(refusalOf(await api.call("GET", "/metrics", { as })))
      expect(statuses).toEqual([
        [401, "unauthenticated"],
        [401, "invalid_token"],
        [401, "invalid_token"],
        [401, "invalid_token"],
      ])
      const basic = { authorization: `Basic ${token}` }
      expect(refusalOf(await api.call("GET", "/metrics", { headers: basic }))[0]).toBe(401)
      const { text } = expectStatus(await api.call("GET", "/metrics", { as: token }), 200)
      expect(text).toContain("hamlet_http_requests_total")
      expect(refusalOf(await api.call("GET", "/v1/me", { as: token }))[0]).toBe(401)
    } finally {
      await api.close()
    }
  })

  test("clients that send half a request keep no collector from the port of the metrics", async () => {
    const server = await listenForMetrics(
      loadConfig({ HAMLET_METRICS_PORT: "0" }, []),
      Promise.resolve({ app: { fetch: async () => new Response("metrics") } } as never),
    )
    const port = server?.port ?? 0
    const halves = await Promise.all(
      Array.from({ length: 40 }, async () => {
        const socket = connect(port, "127.0.0.1")
        socket.on("error", () => {})
        await once(socket, "connect")
        socket.write("GET /metrics HTTP/1.1\r\n")
        return socket
      }),
    )
    try {
      for (let count = 0; count < 10; count++)
        expect(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()).toBe("metrics")
    } finally {
      for (const socket of halves) socket.destroy()
      server?.stop()
    }
  })

  test("with HAMLET_METRICS_PORT, that port has GET /metrics and nothing else, and the other port has all but that", async () => {
    const env = { HAMLET_METRICS_PORT: "0", HAMLET_METRICS_TOKEN: token }
    const api = await openApi(open, env)
    const server = await listenForMetrics(loadConfig(env, []), Promise.resolve(api.hamlet))
    try {
      const read = async (path: string, init: RequestInit = {}) => {
        const headers = { authorization: `Bearer ${token}` }
        const response = await fetch(`http://127.0.0.1:${server?.port}${path}`, {
          headers,
          ...init,
        })
        return [response.status, (await response.text()).includes("hamlet_queue_runs")]
      }
      expect(await read("/metrics")).toEqual([200, true])
      expect(await read("/metrics?x")).toEqual([200, true])
      expect(await read("/metrics", { headers: {} })).toEqual([401, false])
      expect(await read("/metrics", { method: "POST", body: "x" })).toEqual([405, false])
      for (const path of ["/", "/metrics/", "/v1/me", "/readyz", "/v1/vals"])
        expect([path, ...(await read(path))]).toEqual([path, 404, false])
      for (const as of [undefined, token])
        expect(refusalOf(await api.call("GET", "/metrics", { as }))).toEqual([
          404,
          "route_not_found",
        ])
      expectStatus(await api.call("GET", "/readyz"), 200)
    } finally {
      server?.stop()
      await api.close()
    }
  })
})

describeEachDatabase("api/system without its database", (open) => {
  test("GET /readyz is 503 with retry-after, GET /healthz is 200, and no route is a 500", async () => {
    let database: TestDatabase | undefined
    const api = await openApi(async (options) => {
      database = await open(options)
      return database
    })
    try {
      // A file that was removed is still there for those who have it open; a database that was
      // dropped is not.
      if (database?.url === undefined) return
      await database.close()
      for (const [path, as] of [["/readyz"], ["/v1/vals"], ["/v1/me", api.admin]] as const) {
        const answer = await api.call("GET", path, { as })
        expect(refusalOf(answer)).toEqual([503, "database_unavailable"])
        expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0)
        expect(answer.headers.get("x-should-retry")).toBeNull()
      }
      expectStatus(await api.call("GET", "/healthz"), 200)
    } finally {
      await api.close()
    }
  })
})

describeEachDatabase("api/system with a newer schema", (open) => {
  test("a node stops writing when another node has migrated the database, and GET /readyz reports it", async () => {
    let database: TestDatabase | undefined
    const api = await openApi(async (options) => {
      database = await open(options)
      return database
    })
    try {
      const save = () =>
        api.call("POST", "/v1/vals", { as: api.admin, body: { code: "export default 1" } })
      const val = expectStatus(await save(), 200).json
      await database?.db.write(function* () {
        yield sql`insert into schema_migrations (version, name, applied_at) values (9999, 'later', 1)`
      })
      const problem =
        /^Cannot write to the database: a newer version of Hamlet has migrated it \(its schema is 9999 "later", /
      const ready = await api.call("GET", "/readyz")
      expect(refusalOf(ready)).toEqual([503, "database_unavailable"])
      expect(ready.json.message).toMatch(problem)
      const refused = await save()
      expect(refusalOf(refused)).toEqual([503, "database_unavailable"])
      expect(refused.json.message).toMatch(problem)
      const run = await api.call("POST", `/v1/vals/${val.id}/runs`, {
        as: api.admin,
        headers: { prefer: "respond-async" },
      })
      expect(refusalOf(run)).toEqual([503, "database_unavailable"])
      expectStatus(await api.call("GET", `/v1/vals/${val.id}`, { as: api.admin }), 200)
      expectStatus(await api.call("GET", "/healthz"), 200)
    } finally {
      await api.close()
    }
  })
})

describeEachDatabase("api/system without sandboxes", (open) => {
  test("GET /readyz is 503 with the problem until sandboxes can be started again, then names the database", async () => {
    let problem: string | undefined = "Cannot start a sandbox: Deno is not there any more"
    const status = () => ({ ...idleStatus, isolation: "bubblewrap", problem })
    const enter = () => Promise.reject(new Error("nothing is run here"))
    let database: TestDatabase | undefined
    const api = await openApi(
      async (options) => {
        database = await open(options)
        return database
      },
      {},
      { runner: { status, acquire: enter, retire() {}, endAll() {}, runsOf: () => 0 } },
    )
    try {
      const answer = await api.call("GET", "/readyz")
      expect([...refusalOf(answer), answer.json.message]).toEqual([
        503,
        "sandbox_unavailable",
        problem,
      ])
      expectStatus(await api.call("GET", "/healthz"), 200)
      problem = undefined
      expect(expectStatus(await api.call("GET", "/readyz"), 200).json).toMatchObject({
        status: "ok",
        isolation: "bubblewrap",
        database: database?.url === undefined ? "SQLite" : "PostgreSQL",
      })
    } finally {
      await api.close()
    }
  })
})
