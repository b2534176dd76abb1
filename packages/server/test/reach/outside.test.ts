import { afterAll, describe, expect, test } from "bun:test"
import { createAuthority } from "@hamlet/kit/testing"
import type { AttackServer } from "../attacks/support/attack-server.ts"
import { describeAttacks } from "../attacks/support/describe-attacks.ts"
import { readResidentBytes } from "../attacks/support/processes.ts"

const authority = createAuthority()
const stranger = createAuthority()
const megabyte = 1024 ** 2
const streamBytes = 100 * megabyte
const growthBytesMax = 100 * megabyte

/** The outside world: servers on this machine, which the operator lets vals reach. */
const seen: Request[] = []
const plain = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 0,
  maxRequestBodySize: 2 * streamBytes,
  fetch: answer,
  websocket: { message: (socket, data) => void socket.send(`outside ${data}`) },
})
const good = serveTls(authority.issue("localhost"))
const expired = serveTls(authority.issue("localhost", -1))
const other = serveTls(authority.issue("other.test"))
const unknown = serveTls(stranger.issue("localhost"))
const servers = [plain, good, expired, other, unknown]

function serveTls(tls: { readonly cert: string; readonly key: string }) {
  return Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    tls,
    fetch: answer,
    websocket: { message: (socket, data) => void socket.send(`secure ${data}`) },
  })
}

async function answer(
  request: Request,
  server: Bun.Server<undefined>,
): Promise<Response | undefined> {
  seen.push(request)
  const { pathname, searchParams } = new URL(request.url)
  if (pathname === "/socket")
    return server.upgrade(request) ? undefined : new Response("no", { status: 400 })
  if (pathname === "/headers") return Response.json(Object.fromEntries(request.headers))
  if (pathname === "/moved")
    return new Response(null, { status: 302, headers: { location: searchParams.get("to") ?? "" } })
  if (pathname === "/pour") return new Response(pour(streamBytes))
  if (pathname === "/drain") return new Response(String(await count(request.body)))
  return new Response(`outside ${request.method} ${pathname}`)
}

function pour(bytes: number): ReadableStream<Uint8Array> {
  const part = new Uint8Array(65_536)
  let left = bytes
  return new ReadableStream({
    pull(controller) {
      if (left <= 0) return controller.close()
      controller.enqueue(part)
      left -= part.length
    },
  })
}

async function count(body: ReadableStream<Uint8Array> | null): Promise<number> {
  let bytes = 0
  for await (const part of body ?? []) bytes += part.length
  return bytes
}

afterAll(() => {
  for (const server of servers) server.stop(true)
  authority[Symbol.dispose]()
  stranger[Symbol.dispose]()
})

const settings = {
  HAMLET_EGRESS_ALLOW: servers.map(({ port }) => `localhost:${port}`).join(","),
  HAMLET_EGRESS_CA: authority.path,
}

/** What a val of ada's makes of an expression. */
async function evaluate(testServer: AttackServer, expression: string) {
  const val = await testServer.save(testServer.ada, {
    code: `export default async () => { try { return { got: await (${expression}) } } catch (error) { return { error: error.name + ": " + error.message } } }`,
  })
  const response = await testServer.request(val)
  return { ...response.json, run: await testServer.runOf(response, testServer.ada) }
}

describeAttacks("reach/outside", settings, (getServer) => {
  test("a request is allowed, and its run records it", async () => {
    const url = `http://localhost:${plain.port}/hello?q=1`
    const { got, run } = await evaluate(
      getServer(),
      `fetch("${url}", { method: "POST", body: "12345" }).then((it) => it.text())`,
    )
    expect(got).toBe("outside POST /hello")
    expect(run.egress).toMatchObject({ requests: 1, blocked: 0 })
    expect(run.egress.list).toEqual([
      expect.objectContaining({
        method: "POST",
        url,
        status: 200,
        blocked: null,
        at: expect.any(String),
        durationMs: expect.any(Number),
      }),
    ])
    expect(run.egress.bytesSent).toBeGreaterThanOrEqual(5)
    expect(run.egress.bytesReceived).toBeGreaterThanOrEqual("outside POST /hello".length)
  })

  describe("certificates are checked:", () => {
    test.each([
      ["one that is valid", good, { got: "outside GET /" }],
      [
        "one that has expired",
        expired,
        {
          error: expect.stringMatching(
            /^TypeError: Cannot fetch "https:\/\/localhost:\d+\/": .*expired/,
          ),
        },
      ],
      [
        "one of another host",
        other,
        {
          error: expect.stringMatching(
            /^TypeError: Cannot fetch "https:\/\/localhost:\d+\/": .*(host|name)/,
          ),
        },
      ],
      [
        "one of an unknown authority",
        unknown,
        {
          error: expect.stringMatching(
            /^TypeError: Cannot fetch "https:\/\/localhost:\d+\/": .*(authority|unknown|trusted|issuer|self)/,
          ),
        },
      ],
    ])("%s", async (_, server, expected) => {
      expect(
        await evaluate(
          getServer(),
          `fetch("https://localhost:${server.port}/").then((it) => it.text())`,
        ),
      ).toMatchObject(expected)
    })
  })

  test.each([
    ["ws", plain, "outside hi"],
    ["wss", good, "secure hi"],
  ])("a WebSocket over %s works in both directions", async (scheme, server, expected) => {
    const { got, run } = await evaluate(
      getServer(),
      `new Promise((resolve, reject) => { const socket = new WebSocket("${scheme}://localhost:${server.port}/socket")
        socket.onopen = () => socket.send("hi"); socket.onmessage = ({ data }) => { resolve(data); socket.close() }; socket.onerror = ({ message }) => reject(new Error(message)) })`,
    )
    expect(got).toBe(expected)
    expect(run.egress?.requests ?? 1).toBe(1)
  })

  test("a blocked request fails in the val with a reason, and the run counts it", async () => {
    const { error, run } = await evaluate(getServer(), `fetch("http://10.11.12.13/secret?x=1")`)
    expect(error).toMatch(
      /^TypeError: Cannot fetch "http:\/\/10\.11\.12\.13\/secret[^"]*": .*private/,
    )
    expect(run.egress).toMatchObject({
      requests: 1,
      blocked: 1,
      list: [{ method: "GET", status: null, blocked: expect.stringContaining("private") }],
    })
  })

  test("a redirect is followed, but not to a forbidden address", async () => {
    const to = (url: string) => `http://localhost:${plain.port}/moved?to=${encodeURIComponent(url)}`
    const fine = await evaluate(
      getServer(),
      `fetch("${to(`http://localhost:${plain.port}/there`)}").then((it) => it.text())`,
    )
    expect(fine).toMatchObject({
      got: "outside GET /there",
      run: { egress: { requests: 2, blocked: 0 } },
    })
    const bad = await evaluate(
      getServer(),
      `fetch("${to("http://169.254.169.254/latest/")}").then((it) => it.text())`,
    )
    expect(bad).toMatchObject({
      error: expect.stringContaining('Cannot fetch "http://169.254.169.254/latest/": '),
      run: { egress: { requests: 2, blocked: 1 } },
    })
  })

  test(`${streamBytes / megabyte} MB come in and go out without growing the server`, async () => {
    const testServer = getServer()
    const url = `http://localhost:${plain.port}`
    await evaluate(
      testServer,
      `fetch("${url}/pour").then(async (it) => { for await (const _ of it.body); })`,
    )
    const before = readResidentBytes(testServer.hamlet.pid)
    const { got } = await evaluate(
      testServer,
      `(async () => {
        let bytes = 0
        for await (const part of (await fetch("${url}/pour")).body) bytes += part.length
        let left = ${streamBytes}
        const body = new ReadableStream({ pull(controller) { if (left <= 0) return controller.close(); controller.enqueue(new Uint8Array(65536)); left -= 65536 } })
        return [bytes, Number(await (await fetch("${url}/drain", { method: "POST", body })).text())]
      })()`,
    )
    expect(got).toEqual([streamBytes, streamBytes])
    expect(readResidentBytes(testServer.hamlet.pid) - before).toBeLessThan(growthBytesMax)
  }, 180_000)

  describe("a secret for hosts", () => {
    const value = "s3cr3t-value-for-one-host"
    const hostOf = (server: Bun.Server<undefined>) => `localhost:${server.port}`
    const fetchHeaders = (server: Bun.Server<undefined>, scheme: string, header: string) =>
      `fetch("${scheme}://${hostOf(server)}/headers", { headers: { ${header} } }).then((it) => it.json())`

    test("replaces its placeholder for its host only", async () => {
      const testServer = getServer()
      await testServer.call("PUT", "/v1/me/secrets/API_KEY", {
        as: testServer.ada,
        body: { value, hosts: [hostOf(good)] },
      })
      const key = `Deno.env.get("API_KEY")`
      expect((await evaluate(testServer, key)).got).toBe("hamlet-secret:API_KEY")
      const asBearer = await evaluate(
        testServer,
        fetchHeaders(good, "https", `authorization: "Bearer " + ${key}`),
      )
      // The host itself tells it back, so here the val has it; its log does not show it.
      expect(asBearer.got.authorization).toBe(`Bearer ${value}`)
      const elsewhere = await evaluate(
        testServer,
        fetchHeaders(plain, "http", `authorization: "Bearer " + ${key}`),
      )
      expect(elsewhere.got.authorization).toBe("Bearer hamlet-secret:API_KEY")
    })

    test("is not inserted into the URL, the body or the name of a header", async () => {
      const testServer = getServer()
      seen.length = 0
      const key = `Deno.env.get("API_KEY")`
      await evaluate(
        testServer,
        `fetch("https://${hostOf(good)}/drain?key=" + ${key}, { method: "POST", body: ${key} }).then((it) => it.text())`,
      )
      expect(seen.map(({ url }) => url).join()).toContain("hamlet-secret:API_KEY")
      expect(seen.map(({ url }) => url).join()).not.toContain(value)
    })

    test("is not available to another owner", async () => {
      const testServer = getServer()
      const val = await testServer.save(testServer.mallory, {
        code: `export default () => fetch("https://${hostOf(good)}/headers", { headers: { authorization: "Bearer hamlet-secret:API_KEY" } })`,
      })
      expect((await testServer.request(val)).json.authorization).toBe(
        "Bearer hamlet-secret:API_KEY",
      )
    })
  })
})
