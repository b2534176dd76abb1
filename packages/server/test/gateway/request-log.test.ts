import { afterAll, beforeAll, expect, test } from "bun:test"
import { waitUntil } from "@hamlet/kit/testing"
import { asOwner } from "../../src/domain/access/rights.ts"
import { AppError } from "../../src/domain/app-error.ts"
import { describeSqlite } from "../support/databases.ts"
import { type GatewayFixture, openGatewayFixture } from "./support/gateway-fixture.ts"

/** What the server has logged since this was last asked. */
type TakeLines = () => readonly Record<string, unknown>[]

/** A fixture whose log the test reads. */
async function openLoggedFixture(
  open: Parameters<typeof openGatewayFixture>[0],
  env: Record<string, string> = {},
): Promise<{ fixture: GatewayFixture; takeLines: TakeLines; takeText(): string }> {
  let text = ""
  const writeLog = (more: string) => {
    text += more
  }
  const fixture = await openGatewayFixture(open, { HAMLET_LOG_LEVEL: "info", ...env }, { writeLog })
  const takeText = () => {
    fixture.hamlet.log.flush()
    const taken = text
    text = ""
    return taken
  }
  const takeLines = () =>
    takeText()
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  return { fixture, takeLines, takeText }
}

describeSqlite("log of requests", (open) => {
  let fixture: GatewayFixture
  let takeLines: TakeLines
  let takeText: () => string
  beforeAll(async () => {
    ;({ fixture, takeLines, takeText } = await openLoggedFixture(open, {
      HAMLET_ADDRESS_HEADER: "x-forwarded-for",
    }))
    await fixture.addVal("hello")
    await fixture.addVal("hidden", () => new Response("hidden"), { privacy: "private" })
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  const as = ({ token }: { token: string }) => ({ authorization: `Bearer ${token}` })
  const api = (path: string, headers: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${fixture.port}${path}`, { headers })
  const metric = async (sample: string) => {
    const text = await (await api("/metrics")).text()
    return Number(
      text
        .split("\n")
        .find((line) => line.startsWith(`${sample} `))
        ?.split(" ")[1] ?? 0,
    )
  }

  test("has a line for each request to a val, with user, method, address and outcome", async () => {
    takeLines()
    const response = await fixture.request("hello", "/path?key=query-secret", {
      method: "POST",
      body: "x",
      headers: { ...as(fixture.bob), "x-forwarded-for": "192.0.2.7" },
    })
    const runId = response.headers.get("x-run-id")
    const text = takeText()
    expect(text.match(/\n/g)).toHaveLength(1)
    expect(text).not.toContain("query-secret")
    expect(text).not.toContain(fixture.bob.token)
    const { at, ms, ...line } = JSON.parse(text)
    expect(typeof at).toBe("string")
    expect(typeof ms).toBe("number")
    expect(line).toEqual({
      level: "info",
      event: "val_request",
      requestId: runId,
      runId,
      method: "POST",
      host: `ada-hello.localhost:${fixture.port}`,
      val: "ada/hello",
      status: 200,
      user: "bob",
      userId: fixture.bob.id,
      address: "192.0.2.7",
    })
  })

  test("has a line for each request to the API with the user and the address", async () => {
    takeLines()
    await api("/v1/me?key=query-secret", { ...as(fixture.ada), "x-forwarded-for": "192.0.2.8" })
    await api("/v1/me", { "x-forwarded-for": "192.0.2.9" })
    const [known, unknown] = takeLines()
    expect(known).toMatchObject({
      event: "request",
      path: "/v1/me",
      status: 200,
      user: "ada",
      userId: fixture.ada.id,
      address: "192.0.2.8",
    })
    expect(unknown).toMatchObject({ status: 401, address: "192.0.2.9" })
    expect(unknown).not.toHaveProperty("user")
  })

  test("has no line for a probe that succeeds, and no code", async () => {
    takeLines()
    for (const path of ["/healthz", "/readyz", "/metrics"])
      expect((await api(path)).status).toBe(200)
    expect(takeLines()).toEqual([])
    await api("/metrics/")
    await api("/v1/eval/fetch(%22key%22)", as(fixture.ada))
    const lines = takeLines()
    expect(JSON.stringify(lines)).not.toContain("key")
    const requests = lines.filter(({ event }) => event === "request")
    expect(requests.map(({ path }) => path)).toEqual(["/metrics/", "/v1/eval/{code}"])
  })

  test("has no host that is a preview pass, valid or not", async () => {
    const caller = {
      actorId: fixture.ada.id,
      actorName: "ada",
      ownerName: "ada",
      ...asOwner(fixture.ada.id),
      tokenId: "",
      scopes: new Set<never>(),
    }
    const hidden = await fixture.hamlet.stores.vals.findByName(
      "ada",
      "hidden",
      asOwner(fixture.ada.id),
    )
    const { url } = await fixture.hamlet.nouns.previews.create(caller, hidden?.id ?? "", {})
    const { host } = new URL(url)
    const pass = host.split(".")[0] ?? ""
    takeLines()
    expect((await fixture.request(host)).status).toBe(200)
    for (const wrong of [
      `${pass}.localhost:99999`,
      `x.${pass}.localhost`,
      `x${pass}.localhost`,
      `${pass.replace(/^./, "7")}.localhost`,
    ])
      expect((await fixture.request(wrong)).status).toBe(404)
    const text = takeText()
    expect(text.match(/\n/g)).toHaveLength(5)
    expect(text).not.toContain(pass.slice(1))
    const [first = "", second = ""] = text.split("\n")
    expect(JSON.parse(first)).toMatchObject({ val: "ada/hidden", isPreview: true, status: 200 })
    expect(JSON.parse(first)).not.toHaveProperty("user")
    expect(JSON.parse(second)).toMatchObject({ code: "val_not_found", status: 404 })
  })

  test("counts and names the reason of a request that was refused before its val ran", async () => {
    const sample = (code: string, status: number) =>
      `hamlet_val_requests_refused_total{code="${code}",status="${status}"}`
    const samples = [sample("val_not_found", 404), sample("overloaded", 503)]
    const before = await Promise.all(samples.map(metric))
    takeLines()
    await fixture.request("nothing")
    fixture.runner.refusal = new AppError(
      "overloaded",
      "Cannot run the program: no process became free for it in time",
    )
    await fixture.request("hello")
    fixture.runner.refusal = undefined
    await fixture.request("hello")
    const [missing, refused, served] = takeLines()
    expect(missing).toMatchObject({
      host: `ada-nothing.localhost:${fixture.port}`,
      status: 404,
      code: "val_not_found",
    })
    expect(missing).toHaveProperty("requestId")
    expect(missing).not.toHaveProperty("runId")
    expect(refused).toMatchObject({ val: "ada/hello", status: 503, code: "overloaded" })
    expect(served).not.toHaveProperty("code")
    expect(await Promise.all(samples.map(metric))).toEqual(before.map((count) => count + 1))
  })

  test("cannot be forged or flooded by a client", async () => {
    takeLines()
    const evil = '"}\\u000a{"level":"error"} \x9b31m'
    await api(`/v1/${"a".repeat(5_000)}`, { "x-forwarded-for": `${evil}${"b".repeat(3_000)}` })
    await api("/v1/%0A%7B%22level%22")
    await api(`/v1/vals/${fixture.ada.token}`)
    await fixture.request("hello", "/", {
      method: "PROPFIND",
      headers: { "x-forwarded-for": evil },
    })
    const text = takeText()
    expect(text.match(/\n/g)).toHaveLength(4)
    expect(text).not.toContain(fixture.ada.token)
    expect(text).toMatch(/^[\x20-\x7e\n]*$/)
    for (const line of text.split("\n").filter(Boolean)) {
      expect(line.length).toBeLessThan(2_500)
      expect(JSON.parse(line)).toMatchObject({ level: "info" })
    }
  })

  test("shows a val's WebSocket with its status", async () => {
    takeLines()
    await fixture.addVal("socket")
    fixture.runner.serve("ada/socket", () => new Response(null, { status: 400 }), { message() {} })
    const socket = new WebSocket(`ws://127.0.0.1:${fixture.port}/`, {
      headers: { host: `ada-socket.localhost:${fixture.port}` },
    } as unknown as string[])
    await new Promise((resolve) => socket.addEventListener("open", resolve, { once: true }))
    socket.close()
    expect(takeLines()).toEqual([
      expect.objectContaining({ event: "val_request", val: "ada/socket", status: 101 }),
    ])
  })
})

test("the log has no addresses when they are turned off, and no requests above level info", async () => {
  const { fixture, takeLines } = await openLoggedFixture(undefined, {
    HAMLET_LOG_ADDRESSES: "no",
  })
  await using _ = fixture
  await fixture.addVal("hello")
  await fixture.request("hello")
  await fetch(`http://127.0.0.1:${fixture.port}/v1/me`)
  const lines = takeLines()
  expect(lines.map(({ event }) => event)).toEqual(["val_request", "request"])
  for (const line of lines) expect(line).not.toHaveProperty("address")
  const quiet = await openLoggedFixture(undefined, { HAMLET_LOG_LEVEL: "warn" })
  await using __ = quiet.fixture
  await quiet.fixture.addVal("hello")
  expect((await quiet.fixture.request("hello")).status).toBe(200)
  expect(quiet.takeLines()).toEqual([])
})

describeSqlite("log of slow requests", (open) => {
  test("says what a request to a val and one to the API have waited for", async () => {
    const { fixture, takeText } = await openLoggedFixture(open, {
      HAMLET_SLOW_REQUEST_MS: "50",
      HAMLET_SLOW_STATEMENT_MS: "none",
    })
    await using _ = fixture
    const takes = async (ms: number) => {
      const until = performance.now() + ms
      await waitUntil(() => performance.now() >= until)
      return new Response("slow")
    }
    await fixture.addVal("slow", () => takes(60))
    await fixture.request("slow", "/secret-path?key=query-secret")
    const headers = { authorization: `Bearer ${fixture.ada.token}` }
    await fetch(`http://127.0.0.1:${fixture.port}/v1/run/ada.slow?key=query-secret`, { headers })
    const text = takeText()
    const lines = text.split("\n").filter((line) => line.includes('"event":"slow_request"'))
    const ofVal = lines.map((line) => JSON.parse(line)).find(({ host }) => host !== undefined)
    expect(ofVal).toMatchObject({ level: "warn", val: "ada/slow", status: 200 })
    expect(Object.keys(ofVal.waitedMs)).toEqual([
      "database",
      "client",
      "queue",
      "process",
      "val",
      "egress",
    ])
    expect(ofVal.waitedMs.val).toBeGreaterThanOrEqual(50)
    expect(Object.keys(ofVal.waitedMs)).toContain(ofVal.cause)
    expect(text).not.toContain("secret")
    expect(lines.join("")).not.toContain(fixture.ada.token)
  })
})
