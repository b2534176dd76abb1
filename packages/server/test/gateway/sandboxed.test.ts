import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { notRun, waitUntil } from "@hamlet/kit/testing"
import type { HamletProcess } from "../support/processes/hamlet-process.ts"
import { chosenToken, openServerFixture, type ServerFixture } from "../support/server-fixture.ts"

const title = "the gateway in front of sandboxed vals"
const mega = 1024 ** 2
const sizes = { growthBytesMax: 100 * mega, sockets: 1_000 }

if (Bun.which("bwrap")) describe(title, define)
else notRun(title, "bubblewrap is not installed")

function define(): void {
  let fixture: ServerFixture
  let hamlet: HamletProcess
  let port = 0
  beforeAll(async () => {
    fixture = await openServerFixture()
    const served = await fixture.serve({
      HAMLET_LOG_LEVEL: "error",
      HAMLET_RUNS_PER_VAL_MAX: "2000",
      HAMLET_RUNS_PER_ACCOUNT_MAX: "2000",
    })
    hamlet = served.hamlet
    port = Number(new URL(served.baseUrl).port)
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  const headers = { authorization: `Bearer ${chosenToken}` }
  const save = async (name: string, code: string) => {
    const body = JSON.stringify({ name, code, type: "http", privacy: "public" })
    const response = await fetch(`http://127.0.0.1:${port}/v1/vals`, {
      method: "PUT",
      headers,
      body,
    })
    expect(`${response.status} ${response.ok ? "" : await response.text()}`).toBe("200 ")
    // The val has a process from here on: a busy machine may not start one in time at first.
    await waitUntil(async () => {
      const first = await visit(name)
      await first.body?.cancel()
      return first.status !== 503
    })
  }
  const visit = (name: string, path = "/", { headers: more, ...init }: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      ...init,
      headers: { ...(more as Record<string, string>), host: `ada-${name}.localhost:${port}` },
    })
  const runOf = (ofRun: Response) =>
    waitUntil(async () => {
      const response = await fetch(
        `http://127.0.0.1:${port}/v1/runs/${ofRun.headers.get("x-run-id")}`,
        { headers },
      )
      const run = (await response.json()) as {
        status: string
        request: object
        error: object | null
        logs: { message: string }[]
      }
      return response.status === 200 && run.status !== "running" && run
    })
  const open = (name: string, protocols: readonly string[] = []) =>
    new WebSocket(`ws://127.0.0.1:${port}/`, {
      protocols,
      headers: { host: `ada-${name}.localhost` },
    } as unknown as string[])
  const rss = () =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${hamlet.pid}/status`, "utf8"))?.[1]) * 1024

  test("a val gets its public address and the client's address", async () => {
    await save(
      "seen",
      `export default (request: Request) => Response.json([request.method, request.url, Object.fromEntries(request.headers)])`,
    )
    const response = await visit("seen", "/a/b?c=d", {
      method: "POST",
      body: "x",
      headers: { "user-agent": "test", "x-mine": "1" },
    })
    const [method, url, sent] = (await response.json()) as [string, string, Record<string, string>]
    expect([method, url]).toEqual(["POST", `http://ada-seen.localhost:${port}/a/b?c=d`])
    expect(sent).toMatchObject({
      "x-forwarded-for": "127.0.0.1",
      "x-forwarded-proto": "http",
      "x-mine": "1",
      "user-agent": "test",
    })
    expect(await runOf(response)).toMatchObject({ status: "succeeded", request: { status: 200 } })
  })

  test("a val that throws is a 502 with its stack for the owner", async () => {
    await save("throws", `export default () => { throw new RangeError("too far") }`)
    const response = await visit("throws", "/", {
      headers: { ...headers, accept: "application/json" },
    })
    expect(response.status).toBe(502)
    expect(await response.json()).toMatchObject({
      code: "run_failed",
      runError: {
        name: "RangeError",
        message: "too far",
        stack: expect.stringContaining("ada/throws.tsx:1"),
      },
    })
    expect(await (await visit("throws")).text()).not.toContain("too far")
  })

  test("a val that was transpiled before it ran shows the author's lines and columns", async () => {
    const put = async (path: string, method: string, body: object) => {
      const url = `http://127.0.0.1:${port}${path}`
      const response = await fetch(url, { method, headers, body: JSON.stringify(body) })
      expect(response.status).toBeLessThan(300)
      return (await response.json()) as { id: string }
    }
    const mark = crypto.randomUUID()
    const imported = `interface Far {
  readonly mark: "${mark}"
}
enum Distance { Near, Far }
export function fail(far?: Far): never { type T = Far;   throw new RangeError(Distance.Far + "${mark}") }`
    await put("/v1/vals", "PUT", { name: "far", code: imported, type: "script" })
    const lib = `type Mark = "${mark}"

const React = { createElement: (tag: string, _: unknown, child: () => unknown) => child() }
export const view = (work: () => Mark) => <p>{() => (work as () => never)()}</p>
export async function later<T>(value: T): Promise<T> {
  await null
  console.error(new Error("${mark}"))
  return value
}`
    const code = `import { fail } from "./far"
import { later, view } from "./lib/view.tsx"
interface Options { mark: "${mark}" }

export default async function ({ url }: Request): Promise<Response> {
  const options: Options = await later<Options>({ mark: "${mark}" })
  return view((): Options["mark"] => fail()) as unknown as Response
}`
    const { id } = await put("/v1/vals", "PUT", { name: "traced", code, type: "http" })
    await put(`/v1/vals/${id}/files`, "POST", {
      changes: [{ path: "lib/view.tsx", content: lib }],
    })
    await waitUntil(() => {
      const files = [
        ...new Bun.Glob("hamlet-*/*/emits/*.module").scanSync({ cwd: tmpdir(), absolute: true }),
      ]
      return files.filter((file) => readFileSync(file, "utf8").includes(mark)).length === 3
    })
    const response = await visit("traced", "/", {
      headers: { ...headers, accept: "application/json" },
    })
    const { runError } = (await response.json()) as { runError: { stack: string } }
    expect(runError.stack.split("\n")).toEqual([
      `RangeError: 1${mark}`,
      "    at fail (ada/far.tsx:5:64)",
      "    at ada/traced.tsx:7:38",
      "    at ada/traced/lib/view.tsx:4:53",
      "    at Object.createElement (ada/traced/lib/view.tsx:3:83)",
      "    at view (ada/traced/lib/view.tsx:4:43)",
      "    at default (ada/traced.tsx:7:10)",
    ])
    expect((await runOf(response)).logs.map(({ message }) => message.split("\n"))).toEqual([
      [
        `Error: ${mark}`,
        "    at later (ada/traced/lib/view.tsx:7:17)",
        "    at async default (ada/traced.tsx:6:28)",
      ],
    ])
  })

  test("a compressed response of a val is forwarded", async () => {
    await save(
      "packed",
      `export default () => new Response(new Response("packed ".repeat(1000)).body!.pipeThrough(new CompressionStream("gzip")), {
        headers: { "content-type": "text/plain", "content-encoding": "gzip" },
      })`,
    )
    const response = await visit("packed")
    expect([response.headers.get("content-encoding"), await response.text()]).toEqual([
      "gzip",
      "packed ".repeat(1000),
    ])
  })

  test("a WebSocket uses the protocol that the val chooses", async () => {
    const take = (options: string) => `export default (request: Request) => {
      const { socket, response } = Deno.upgradeWebSocket(request, ${options})
      socket.onopen = () => socket.send("hello")
      socket.onmessage = ({ data }) => data === "close" ? socket.close(4002, "as told") : socket.send(data)
      return response
    }`
    await save("chooses", take(`{ protocol: "b" }`))
    await save("echoes", take("{}"))
    const chosen = open("chooses", ["a", "b"])
    const first = await new Promise<MessageEvent>((resolve) =>
      chosen.addEventListener("message", resolve),
    )
    expect([first.data, chosen.protocol]).toEqual(["hello", "b"])
    // The run of an open WebSocket tells that it is one.
    await waitUntil(async () => {
      const response = await fetch(`http://127.0.0.1:${port}/v1/me/runs`, { headers })
      const { data } = (await response.json()) as {
        data: { status: string; request: { status: number | null } | null }[]
      }
      return data.some(({ status, request }) => status === "running" && request?.status === 101)
    })
    chosen.send("close")
    const closed = await new Promise<CloseEvent>((resolve) =>
      chosen.addEventListener("close", resolve),
    )
    expect([closed.code, closed.reason]).toEqual([4002, "as told"])
  })

  /** The head of the answer to a handshake. */
  function handshake(name: string): Promise<string> {
    return new Promise((resolve) => {
      const socket = connect(port, "127.0.0.1")
      let text = ""
      socket.on("data", (chunk) => {
        text += chunk.toString("latin1")
        if (!text.includes("\r\n\r\n")) return
        socket.destroy()
        resolve(text)
      })
      const key = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
      socket.write(
        `GET / HTTP/1.1\r\nHost: ada-${name}.localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n${key}\r\n\r\n`,
      )
    })
  }

  test.each([
    ["throws", "throw new Error('too late')"],
    ["responds otherwise", "return new Response('no')"],
    [
      "fails meanwhile",
      "setTimeout(() => { throw new Error('too late') }); return new Promise(() => {})",
    ],
  ])("a val that accepts a WebSocket and then %s goes on with other requests", async (_, rest) => {
    const name = `late${rest.length}`
    await save(
      name,
      `export default (request: Request) => {
        if (!request.headers.has("upgrade")) return new Response("fine")
        Deno.upgradeWebSocket(request)
        ${rest}
      }`,
    )
    expect(await (await visit(name)).text()).toBe("fine")
    const socket = open(name)
    const { code } = await new Promise<CloseEvent>((resolve) =>
      socket.addEventListener("close", resolve),
    )
    expect(code).toBe(1011)
    expect(await (await visit(name)).text()).toBe("fine")
  })

  test("a server of node:http that switches protocols unasked goes on with other requests", async () => {
    await save(
      "switches",
      `import http from "node:http"
      http.createServer((request, response) => {
        if (request.url === "/") return response.end("fine")
        response.socket.write("HTTP/1.1 101 Switching Protocols\\r\\nupgrade: websocket\\r\\nconnection: upgrade\\r\\n\\r\\nHTTP/1.1 200 OK\\r\\ncontent-length: 6\\r\\n\\r\\nforged")
      }).listen(80)`,
    )
    const visited = await visit("switches", "/switch")
    expect(visited.status).toBe(502)
    expect(await (await visit("switches")).text()).toBe("fine")
  })

  test("a val that refuses a WebSocket responds normally", async () => {
    await save(
      "wantsnone",
      `export default () => new Response("no sockets here", { status: 426, headers: { "x-why": "because" } })`,
    )
    const text = await handshake("wantsnone")
    expect(text).toStartWith("HTTP/1.1 426")
    expect(text).toMatch(/x-why: because/i)
  })

  test(`${sizes.sockets} WebSockets are open at the same time, and each gets its own messages`, async () => {
    const sockets = await Promise.all(
      Array.from({ length: sizes.sockets }, async () => {
        const socket = open("echoes")
        await new Promise((resolve, reject) => {
          socket.addEventListener("message", resolve, { once: true })
          socket.addEventListener("close", ({ code }) => reject(new Error(`closed with ${code}`)), {
            once: true,
          })
        })
        return socket
      }),
    )
    const responses = await Promise.all(
      sockets.map((socket, index) => {
        socket.send(`I am ${index}`)
        return new Promise<string>((resolve) =>
          socket.addEventListener("message", ({ data }) => resolve(data), { once: true }),
        )
      }),
    )
    expect(responses).toEqual(sockets.map((_, index) => `I am ${index}`))
    await Promise.all(
      sockets.map((socket) => {
        socket.close()
        return new Promise((resolve) => socket.addEventListener("close", resolve))
      }),
    )
  })

  test("a client that does not read gets nothing buffered without limit", async () => {
    await save(
      "pours",
      `const chunk = new Uint8Array(65536)
      export default () => new Response(new ReadableStream({ pull: (controller) => controller.enqueue(chunk) }))`,
    )
    const reader = (await visit("pours")).body?.getReader()
    await reader?.read()
    await reader?.cancel()
    const before = rss()
    const socket = connect(port, "127.0.0.1")
    socket.pause().on("error", () => {})
    socket.write("GET / HTTP/1.1\r\nHost: ada-pours.localhost\r\n\r\n")
    // What the server reads from the val while the client does not read. Other requests are the
    // clock.
    for (let index = 0; index < 300; index++) await (await visit("seen")).text()
    expect(rss() - before).toBeLessThan(sizes.growthBytesMax)
    socket.destroy()
  })
}
