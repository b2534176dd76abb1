import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test"
import { createAuthority, waitUntil } from "@hamlet/kit/testing"
import { findDeno } from "../../../../scripts/find-deno.ts"
import { ProxyFixture } from "./testing/proxy-fixture.ts"

const authority = createAuthority()
const megabyte = 1024 ** 2
const streamBytes = 20 * megabyte

/** The upstream world: a server in the clear, and one with a certificate. */
const later: (() => void)[] = []
let gone = 0
let plain: Bun.Server<undefined>
let secure: Bun.Server<undefined>
let fixture: ProxyFixture

function serve(tls?: { readonly cert: string; readonly key: string }): Bun.Server<undefined> {
  return Bun.serve<undefined>({
    hostname: "127.0.0.1",
    port: 0,
    maxRequestBodySize: 2 * streamBytes,
    ...(tls && { tls }),
    fetch: answer,
    websocket: {
      message: (socket, data) =>
        void (data === "bye"
          ? socket.close(4001, "told so")
          : socket.send(typeof data === "string" ? `heard ${data}` : data)),
      close: () => void gone++,
      maxPayloadLength: streamBytes,
    },
  })
}

async function answer(
  request: Request,
  server: Bun.Server<undefined>,
): Promise<Response | undefined> {
  const { pathname } = new URL(request.url)
  switch (pathname) {
    case "/socket":
      return server.upgrade(request) ? undefined : new Response("no", { status: 400 })
    case "/echo":
      return new Response(request.body, {
        headers: {
          "x-method": request.method,
          "x-length": request.headers.get("content-length") ?? "none",
        },
      })
    case "/headers":
      return Response.json(Object.fromEntries(request.headers))
    case "/gzip":
      return new Response(Bun.gzipSync("zipped"), { headers: { "content-encoding": "gzip" } })
    case "/moved":
      return new Response(null, { status: 307, headers: { location: "/echo" } })
    case "/slow":
      return new Response(
        new ReadableStream({
          start(controller) {
            controller.enqueue(Buffer.from("first "))
            later.push(() => {
              controller.enqueue(Buffer.from("second"))
              controller.close()
            })
          },
          cancel: () => void gone++,
        }),
      )
    case "/go":
      later.shift()?.()
      return new Response("gone on")
    case "/count": {
      let bytes = 0
      for await (const part of request.body ?? []) bytes += part.length
      return new Response(String(bytes))
    }
    case "/pour":
      return new Response(new Uint8Array(streamBytes))
    default:
      return new Response(`${request.method} ${pathname}`, {
        status: pathname === "/teapot" ? 418 : 200,
      })
  }
}

beforeAll(() => {
  plain = serve()
  secure = serve(authority.issue("localhost"))
  fixture = new ProxyFixture({
    ca: authority.ca,
    decide: (hostname) =>
      hostname === "localhost"
        ? { kind: "pass", addresses: ["127.0.0.1"], isAllowed: true }
        : { kind: "blocked", reason: `${hostname} is far away` },
    guest: { findRun: () => ({ run, depth: 0 }) },
  })
})
const run = {
  id: "run",
  depth: 0,
  log() {},
  skipLogs() {},
  fail() {},
  sent: (request: { readonly url: string }) => void urls.push(request.url),
}
const urls: string[] = []

afterEach(() => {
  expect(fixture.errors).toEqual([])
  urls.length = 0
})
afterAll(async () => {
  await fixture.stop()
  await Promise.all([plain.stop(true), secure.stop(true)])
  authority[Symbol.dispose]()
})

/** What a real Deno makes of an expression, with the door as the only way out. */
async function evaluate(expression: string): Promise<unknown> {
  const code = `const http = "http://localhost:${plain.port}", https = "https://localhost:${secure.port}"
    const read = async (response) => [response.status, await response.text()]
    try { console.log(JSON.stringify(await (async () => (${expression}))())) } catch (error) { console.log(JSON.stringify({ error: String(error) })) }`
  const proxy = `unix:${fixture.path}`
  const child = Bun.spawn(
    [findDeno(), "run", "--quiet", "--no-config", "--no-lock", "--allow-net", "--ext=js", "-"],
    {
      stdin: Buffer.from(code),
      env: {
        HTTP_PROXY: proxy,
        HTTPS_PROXY: proxy,
        DENO_NO_UPDATE_CHECK: "1",
        NO_COLOR: "1",
        PATH: "",
      },
    },
  )
  const text = await new Response(child.stdout).text()
  await child.exited
  return JSON.parse(text)
}

describe("Egress, with Deno as its client,", () => {
  test("forwards http and https, on reused connections", async () => {
    expect(
      await evaluate(
        `[await read(await fetch(http + "/a?b=c")), await read(await fetch(https + "/d")), await read(await fetch(http + "/teapot"))]`,
      ),
    ).toEqual([
      [200, "GET /a"],
      [200, "GET /d"],
      [418, "GET /teapot"],
    ])
    expect(urls).toEqual([
      `http://localhost:${plain.port}/a?b=c`,
      `https://localhost:${secure.port}/d`,
      `http://localhost:${plain.port}/teapot`,
    ])
  })

  test("forwards every method, and bodies with a length, as a stream, and none", async () => {
    const post = (init: string) =>
      `fetch(http + "/echo", ${init}).then(async (it) => [it.headers.get("x-method"), it.headers.get("x-length"), await it.text()])`
    expect(
      await evaluate(`[
        await ${post(`{ method: "POST", body: "hello" }`)},
        await ${post(`{ method: "PUT", body: new ReadableStream({ start(c) { c.enqueue(new TextEncoder().encode("he")); c.enqueue(new TextEncoder().encode("llo")); c.close() } }) }`)},
        await ${post(`{ method: "DELETE" }`)},
        await ${post(`{ method: "PATCH", body: new FormData() }`)}.then(([method]) => method),
        await fetch(http + "/x", { method: "HEAD" }).then(async (it) => [it.status, it.headers.get("content-length"), await it.text()]),
      ]`),
    ).toEqual([
      ["POST", "5", "hello"],
      ["PUT", "none", "hello"],
      ["DELETE", "0", ""],
      "PATCH",
      [200, "7", ""],
    ])
  })

  test("forwards compressed responses and redirects, and refuses requests", async () => {
    expect(
      await evaluate(`[
        await read(await fetch(http + "/gzip")),
        await read(await fetch(https + "/moved", { method: "POST", body: "kept" })),
        await fetch("http://elsewhere.test/x?y").then(async (it) => [it.status, it.headers.get("x-hamlet-blocked"), await it.text()]),
        await fetch("http://elsewhere.test/x", { method: "POST", body: new Uint8Array(${4 * megabyte}) }).then(read),
        await read(await fetch(http + "/still")),
      ]`),
    ).toEqual([
      [200, "zipped"],
      [200, "kept"],
      [403, "1", 'Cannot fetch "http://elsewhere.test/x": elsewhere.test is far away'],
      [403, 'Cannot fetch "http://elsewhere.test/x": elsewhere.test is far away'],
      [200, "GET /still"],
    ])
  })

  test("does not forward headers that are its own", async () => {
    const headers = `{ "x-hamlet-depth": "0", "x-hamlet-run": "x y", host: "evil.test", "proxy-authorization": "x", connection: "close" }`
    const seen = (await evaluate(
      `await (await fetch(http + "/headers", { headers: ${headers} })).json()`,
    )) as Record<string, string>
    expect(seen.host).toBe(`localhost:${plain.port}`)
    expect(Object.keys(seen).filter((name) => /^(x-hamlet|proxy|connection)/.test(name))).toEqual(
      [],
    )
  })

  test("streams a response while it arrives", async () => {
    expect(
      await evaluate(`(async () => {
        const reader = (await fetch(http + "/slow")).body.pipeThrough(new TextDecoderStream()).getReader()
        const parts = [(await reader.read()).value]
        await (await fetch(http + "/go")).text()
        for (let part = await reader.read(); !part.done; part = await reader.read()) parts.push(part.value)
        return parts
      })()`),
    ).toEqual(["first ", "second"])
  })

  test("forwards many concurrent requests", async () => {
    const all = (await evaluate(
      `await Promise.all(Array.from({ length: 100 }, async (_, n) => (await fetch((n % 2 ? http : https) + "/" + n)).text()))`,
    )) as string[]
    expect(all).toEqual(Array.from({ length: 100 }, (_, n) => `GET /${n}`))
  })

  test(`forwards ${streamBytes / megabyte} MB`, async () => {
    const upload = (
      base: string,
    ) => `(await fetch(${base} + "/count", { method: "POST", body: new ReadableStream({ start() { this.left = ${streamBytes} },
      pull(c) { if (this.left <= 0) return c.close(); c.enqueue(new Uint8Array(65536)); this.left -= 65536 } }) })).text()`
    const download = (base: string) =>
      `(await (await fetch(${base} + "/pour")).arrayBuffer()).byteLength`
    expect(
      await evaluate(
        `[await ${upload("http")}, await ${upload("https")}, await ${download("http")}, await ${download("https")}]`,
      ),
    ).toEqual([String(streamBytes), String(streamBytes), streamBytes, streamBytes])
  })

  test("closes the upstream connection when Deno cancels a request", async () => {
    const before = gone
    expect(
      await evaluate(`(async () => {
        const abort = new AbortController()
        const response = await fetch(http + "/slow", { signal: abort.signal })
        await response.body.getReader().read()
        abort.abort()
        return "gone"
      })()`),
    ).toBe("gone")
    await waitUntil(() => gone > before)
  })

  test.each([
    ["ws", () => plain.port],
    ["wss", () => secure.port],
  ])("forwards a WebSocket: %s", async (scheme, port) => {
    const before = gone
    expect(
      await evaluate(`new Promise((resolve) => {
        const socket = new WebSocket("${scheme}://localhost:${port()}/socket")
        const heard = []
        socket.binaryType = "arraybuffer"
        socket.onopen = () => { socket.send("hello"); socket.send(new Uint8Array(${megabyte})) }
        socket.onmessage = ({ data }) => { heard.push(typeof data === "string" ? data : data.byteLength); if (heard.length === 2) socket.send("bye") }
        socket.onclose = ({ code, reason }) => resolve([...heard, code, reason])
      })`),
    ).toEqual(["heard hello", megabyte, 4001, "told so"])
    await waitUntil(() => gone > before && urls.length === 1)
  })

  test("refuses a WebSocket", async () => {
    expect(
      await evaluate(`[await new Promise((resolve) => { const socket = new WebSocket("ws://elsewhere.test/"); socket.onerror = ({ message }) => resolve(typeof message); socket.onopen = () => resolve("open") }),
        await new Promise((resolve) => { const socket = new WebSocket("ws://localhost:${plain.port}/teapot"); socket.onclose = ({ code }) => resolve(code) })]`),
    ).toEqual(["string", 0])
    await waitUntil(() => urls.length === 2)
  })
})
