import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { createClient } from "@hamlet/contract/client"
import { PrivatePostgres } from "@hamlet/database/testing"
import { notRun, waitUntil } from "@hamlet/kit/testing"
import { describeSqlite } from "../support/databases.ts"
import { chosenToken, openServerFixture } from "../support/server-fixture.ts"

const binaries = process.env.HAMLET_TEST_POSTGRES_BIN
const startMsMax = 180_000

describeSqlite("hamlet serve", (open) => {
  test("logs JSON lines that name every request, and never a token, a secret, code or a query", async () => {
    await using fixture = await openServerFixture(open)
    const { hamlet, baseUrl } = await fixture.serve({ HAMLET_LOG_LEVEL: "debug" })
    const hidden = {
      secretValue: "hidden-secret-value",
      code: "hidden_code()",
      readme: "hidden readme",
      comment: "hidden comment",
      query: "hidden_query",
      key: "hidden-idempotency-key",
      guess: "hidden-guess-at-a-token-0123456789abcdef",
      email: "hidden@example.com",
      body: "hidden, not JSON",
    }
    const client = createClient({ baseUrl, token: chosenToken })
    const val = await client.createVal(
      { code: hidden.code, readme: hidden.readme },
      { idempotencyKey: hidden.key },
    )
    await client.createVersion({ val_id: val.id, code: `${hidden.code}; 2` })
    await client.createComment({ val_id: val.id, comment: hidden.comment })
    await client.putSecret({ name: "NAME", value: hidden.secretValue })
    await client.searchVals({ query: hidden.query })
    const made = await client.createToken({ name: "other", scopes: ["val:read"] })
    const grace = await client.createUser({ username: "grace", email: hidden.email })
    const send = (path: string, init: RequestInit) => fetch(`${baseUrl}${path}`, init)
    const authorization = `Bearer ${chosenToken}`
    const refused = [
      await send("/v1/me", { headers: { authorization: `Bearer ${hidden.guess}` } }),
      await send("/v1/vals", { method: "POST", headers: { authorization }, body: hidden.body }),
      await send("/v1/vals", {
        method: "POST",
        headers: { authorization },
        body: JSON.stringify({ code: hidden.code, name: "1" }),
      }),
      await send(`/nowhere?token=${chosenToken}`, {}),
      await send("/v1/me/runs?since=hidden_query", { headers: { authorization } }),
      await send("/v1/vals", { method: "PATCH", headers: { authorization }, body: hidden.body }),
    ]
    expect(refused.map(({ status }) => status)).toEqual([401, 400, 400, 404, 400, 405])

    hamlet.signal("SIGTERM")
    const { stderr, stdout } = await hamlet.ended()

    const lines = stderr
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ event }) => event === "request")
    expect(lines.map(({ route, status }) => `${route ?? "none"} ${status}`)).toEqual([
      "createVal 200",
      "createVersion 201",
      "createComment 201",
      "putSecret 204",
      "searchVals 200",
      "createToken 200",
      "createUser 200",
      "getMe 401",
      "createVal 400",
      "createVal 400",
      "none 404",
      "listMyRuns 400",
      "none 405",
    ])
    for (const line of lines) {
      const names = [
        "at",
        "level",
        "event",
        "requestId",
        "method",
        "path",
        "route",
        "status",
        "ms",
        "user",
        "userId",
        "address",
      ]
      const missing = [
        ...(line.route === undefined ? ["route"] : []),
        ...(line.route === undefined || line.status === 401 ? ["user", "userId"] : []),
      ]
      expect(Object.keys(line)).toEqual(names.filter((name) => !missing.includes(name)))
      expect(line).toMatchObject({
        level: "info",
        event: "request",
        requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      })
    }
    expect(lines.slice(7).map((line) => line.requestId)).toEqual(
      refused.map((response) => response.headers.get("x-request-id")),
    )
    for (const text of [chosenToken, made.token, grace.token, "hidden", "?"])
      expect(stderr + stdout).not.toContain(text)
  })
})

describeSqlite("hamlet serve", (open) => {
  // With PostgreSQL, the test of a database that is away asks for them.
  test("responds to GET /healthz, /readyz and /metrics", async () => {
    await using fixture = await openServerFixture(open)
    const { baseUrl } = await fixture.serve({ HAMLET_LOG_LEVEL: "none" })
    const client = createClient({ baseUrl })
    expect(await client.getHealth()).toEqual({ status: "ok", version: "0.3.0" })
    expect(await client.getReadiness()).toMatchObject({
      status: "ok",
      database: "SQLite",
    })

    const response = await fetch(`${baseUrl}/metrics`)
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8")
    let samples = parsePrometheus(await response.text())
    expect(
      samples.get('hamlet_http_requests_total{route="getHealth",method="GET",status="200"}'),
    ).toBe(1)
    expect(samples.get('hamlet_http_request_duration_seconds_count{route="getReadiness"}')).toBe(1)
    expect(samples.get('hamlet_database_connections{state="open"}')).toBeGreaterThan(0)
    expect(samples.get("process_resident_memory_bytes")).toBeGreaterThan(1_000_000)

    await client.getUser({ user_id: crypto.randomUUID() }).catch(() => undefined)
    const later = parsePrometheus(await client.getMetrics())
    expect(later.get('hamlet_http_requests_total{route="getUser",method="GET",status="404"}')).toBe(
      1,
    )
    expect(
      later.get('hamlet_http_requests_total{route="getMetrics",method="GET",status="200"}'),
    ).toBe(1)
    // Work in the background waits for a connection only now and then.
    await waitUntil(async () => {
      samples = parsePrometheus(await client.getMetrics())
      return samples.get('hamlet_database_connections{state="waiting"}') === 0
    })
  })
})

if (binaries === undefined)
  notRun("GET /readyz, while the database is away,", "HAMLET_TEST_POSTGRES_BIN is not set")
else
  describe("GET /readyz", () => {
    let server: PrivatePostgres

    beforeAll(async () => {
      server = await PrivatePostgres.create(binaries)
    }, startMsMax)

    afterAll(() => server.remove(), startMsMax)

    test(
      "is 503 while the database is unavailable and 200 when it is back, and /healthz is always 200",
      async () => {
        await using fixture = await openServerFixture()
        const { hamlet, baseUrl } = await fixture.serve({ HAMLET_DATABASE_URL: server.url })
        const ask = (path: string) =>
          fetch(`${baseUrl}${path}`, { headers: { authorization: `Bearer ${chosenToken}` } })
        const ready = await ask("/readyz")
        expect([ready.status, await ready.json()]).toMatchObject([200, { database: "PostgreSQL" }])

        await server.stop("fast")
        const away = await ask("/readyz")
        expect(away.status).toBe(503)
        expect(away.headers.get("retry-after")).toBe("1")
        expect(await away.json()).toMatchObject({ code: "database_unavailable", statusCode: 503 })
        expect((await ask("/v1/me")).status).toBe(503)
        expect((await ask("/healthz")).status).toBe(200)
        const figures = async () => parsePrometheus(await (await ask("/metrics")).text())
        const without = await figures()
        expect(without.get("hamlet_database_up")).toBe(0)
        expect(without.get('hamlet_database_errors_total{operation="read"}')).toBeGreaterThan(0)
        expect(without.get('hamlet_database_connections{state="open"}')).toBe(0)
        await waitUntil(async () => (await figures()).get("hamlet_database_writable") === 0)
        // What cannot be counted has no value.
        await waitUntil(async () => !(await figures()).has('hamlet_queue_runs{state="due"}'))

        await server.start()
        await waitUntil(async () => (await ask("/readyz")).status === 200)
        expect((await ask("/v1/me")).status).toBe(200)
        expect((await figures()).get("hamlet_database_up")).toBe(1)
        hamlet.signal("SIGTERM")
        const { exitCode, stderr } = await hamlet.ended()
        expect(exitCode).toBe(0)
        expect(stderr).toContain('"event":"database_unavailable"')
        // Work in the background may have failed meanwhile, and is not a fault of the server either.
        const isExpected = (line: string) =>
          /"event":"background","task":"[a-z: ]+","error":"Cannot use the database: /.test(line)
        const errors = stderr.split("\n").filter((line) => line.includes('"level":"error"'))
        expect(errors.filter((line) => !isExpected(line))).toEqual([])
      },
      startMsMax,
    )
  })

/**
 * The samples of a text in the Prometheus format, by name and labels. Fails on any line that is not
 * of it.
 */
function parsePrometheus(text: string): ReadonlyMap<string, number> {
  const samples = new Map<string, number>()
  const typed = new Set<string>()
  for (const line of text.trimEnd().split("\n")) {
    if (line === "") continue
    const type = /^# TYPE (\w+) (?:counter|gauge|histogram)$/.exec(line)
    if (type?.[1]) typed.add(type[1])
    if (type || /^# HELP \w+ \S/.test(line)) continue
    const sample = /^((\w+)(?:\{(?:\w+="[^"\\\n]*",?)+\})?) (\S+)$/.exec(line)
    const [, name = "", family = "", value = ""] = sample ?? []
    expect(sample, line).not.toBeNull()
    expect(typed.has(family.replace(/_(?:bucket|sum|count)$/, "")) || typed.has(family), line).toBe(
      true,
    )
    expect(Number.isFinite(Number(value)), line).toBe(true)
    samples.set(name, Number(value))
  }
  return samples
}
