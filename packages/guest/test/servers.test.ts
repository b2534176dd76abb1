import { afterEach, describe, expect, test } from "bun:test"
import { startGuest, startVal, stopVals } from "./support/vals.ts"

afterEach(stopVals)

const hello = `(request: Request) => new Response("hello " + new URL(request.url).pathname)`

describe("replaceServe", () => {
  test.each([
    ["a handler", `Deno.serve(${hello})`],
    ["options and a handler", `Deno.serve({ port: 3000 }, ${hello})`],
    ["options with a handler", `Deno.serve({ port: 3000, handler: ${hello} })`],
    ["a module that waits for its end", `await Deno.serve(${hello}).finished`],
    [
      "several exports beside it",
      `Deno.serve(${hello}); export const a = 1; export const b = () => 2`,
    ],
    ["a default export beside it", `Deno.serve(${hello}); export default () => "not this"`],
    [
      "a second server",
      `Deno.serve(${hello}); Deno.serve({ port: 9000 }, () => new Response("second"))`,
    ],
  ])("responds to requests to the val's address: %s", async (_, code) => {
    const guest = await startVal(code)
    for (const path of ["/a", "/b"])
      expect(await (await guest.request(path)).text()).toBe(`hello ${path}`)
  })

  test("passes what Deno passes", async () => {
    const guest = await startVal(`
      const server = Deno.serve({ hostname: "127.0.0.1", port: 3000, onListen: (address) => console.log("on", address.hostname, address.port) },
        (request, info) => { info.completed.then(() => console.log("sent")); return Response.json([info.remoteAddr, request.method]) })
      console.log("at", server.addr.transport, server.addr.port)`)
    const response = await guest.request("/", { headers: { "x-forwarded-for": "203.0.113.7" } })
    expect(await response.json()).toEqual([
      { transport: "tcp", hostname: "203.0.113.7", port: 0 },
      "GET",
    ])
    await guest.message((message) => message.kind === "log" && message.message === "sent")
    expect(guest.texts("load")).toEqual(["on 127.0.0.1 3000", "at tcp 3000"])
  })

  test("gives errors of the handler to onError, or else to the run", async () => {
    const fail = `() => { throw new RangeError("mine") }`
    const handled = await startVal(
      `Deno.serve({ onError: (error) => new Response("handled " + error.message, { status: 500 }) }, ${fail})`,
    )
    expect(await (await handled.request("/")).text()).toBe("handled mine")
    const failed = await startVal(`Deno.serve(${fail})`)
    const response = await failed.request("/")
    expect(response.headers.get("x-hamlet-failure")).toBe("1")
    expect(await response.json()).toMatchObject({ error: { name: "RangeError", message: "mine" } })
  })

  test("closes", async () => {
    const guest = await startVal(
      `const server = Deno.serve((request) => { if (request.url.endsWith("/close")) server.shutdown(); return new Response("open") })`,
    )
    expect(await (await guest.request("/close")).text()).toBe("open")
    expect(await (await guest.request("/")).json()).toMatchObject({
      error: { message: "Cannot respond: the val has closed its server" },
    })
  })

  test("refuses what is no handler", async () => {
    const guest = await startGuest()
    expect(await guest.load(`Deno.serve({ port: 1 } as never)`)).toMatchObject({
      error: { message: "Cannot serve: Deno.serve needs a function that responds to requests" },
    })
  })

  test("fails the load when the module throws after it has listened", async () => {
    const guest = await startGuest()
    expect(await guest.load(`Deno.serve(${hello}); throw new Error("late")`)).toMatchObject({
      kind: "load_failed",
      error: { message: "late" },
    })
  })

  test("upgrades to a WebSocket", async () => {
    const guest = await startVal(`Deno.serve((request) => {
      const { socket, response } = Deno.upgradeWebSocket(request)
      socket.onmessage = ({ data }) => socket.send("echo " + data)
      return response
    })`)
    expect(await exchange(guest.inSocket, "hi")).toBe("echo hi")
  })
})

const createServer = `import http from "node:http"\n`

describe("replaceNodeServers", () => {
  test("has a server of node:http respond to requests to the val's address", async () => {
    const guest = await startVal(`${createServer}
      const server = http.createServer((req, res) => {
        let body = ""
        req.on("data", (chunk) => { body += chunk })
        req.on("end", () => {
          res.writeHead(201, { "x-method": req.method, "set-cookie": ["a=1", "b=2"] })
          res.end(JSON.stringify([req.url, req.headers.host, req.headers["content-type"], body, req.socket.remoteAddress]))
        })
      })
      server.listen(3000, "127.0.0.1", () => console.log("listens", server.listening, server.address()))`)
    const response = await guest.request("/x?y=1", {
      method: "POST",
      headers: { "content-type": "text/plain", "x-forwarded-for": "203.0.113.7" },
      body: "body ✓",
    })
    expect([response.status, response.headers.get("x-method")]).toEqual([201, "POST"])
    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"])
    expect(await response.json()).toEqual([
      "/x?y=1",
      "ada-hello.localhost:8080",
      "text/plain",
      "body ✓",
      "203.0.113.7",
    ])
    await guest.settle()
    expect(guest.texts("load")).toEqual([
      `listens true { address: "127.0.0.1", family: "IPv4", port: 3000 }`,
    ])
  })

  test("passes large bodies on in both directions", async () => {
    const guest = await startVal(`${createServer}import { buffer } from "node:stream/consumers"
      http.createServer(async (req, res) => res.end(await buffer(req))).listen(0)`)
    const bytes = new Uint8Array(3_000_000).fill(7)
    const response = await guest.request("/", { method: "POST", body: bytes })
    expect((await response.bytes()).length).toBe(bytes.length)
  })

  test("tells the server when the client goes away", async () => {
    const guest = await startVal(`${createServer}
      http.createServer((req, res) => { res.on("close", () => console.log("gone", res.writableFinished)); res.write("first") }).listen(0)`)
    const abort = new AbortController()
    const response = await guest.request("/", { signal: abort.signal })
    await response.body?.getReader().read()
    abort.abort()
    await guest.message((message) => message.kind === "log" && message.message === "gone false")
  })

  test.each(["HEAD", "204", "304"])("responds without a body: %s", async (what) => {
    const guest = await startVal(`${createServer}
      http.createServer((req, res) => { res.statusCode = Number(req.url.slice(1)) || 200; res.end() }).listen(0)`)
    const response =
      what === "HEAD"
        ? await guest.request("/", { method: "HEAD" })
        : await guest.request(`/${what}`)
    expect([response.status, await response.text()]).toEqual([
      what === "HEAD" ? 200 : Number(what),
      "",
    ])
  })

  test("gives logs and errors to the run of their request", async () => {
    const guest = await startVal(`${createServer}
      http.createServer(async (req, res) => {
        console.log("before", req.url)
        await new Promise((done) => setTimeout(done, 10))
        console.log("after", req.url)
        if (req.url === "/throw") throw new RangeError("mine")
        res.end("fine")
      }).listen(0)`)
    const [fine, failed] = await Promise.all([
      guest.request("/fine", {}, "fine"),
      guest.request("/throw", {}, "failed"),
    ])
    expect(await fine.text()).toBe("fine")
    const { error } = (await failed.json()) as { error: { name: string; stack: string } }
    expect(error).toMatchObject({ name: "RangeError", message: "mine" })
    expect(error.stack).toContain("ada/hello.tsx:7:")
    await guest.settle()
    expect(guest.texts("fine")).toEqual(["before /fine", "after /fine"])
    expect(guest.texts("failed")).toEqual(["before /throw", "after /throw"])
  })

  test("fails the run when the handler throws at once, or closes the connection", async () => {
    const guest = await startVal(`${createServer}
      http.createServer((req, res) => { if (req.url === "/close") req.socket.destroy(); else throw new Error("at once") }).listen(0)`)
    expect(await (await guest.request("/")).json()).toMatchObject({ error: { message: "at once" } })
    expect(await (await guest.request("/close")).json()).toMatchObject({
      error: { message: "Cannot respond: the server closed the connection without a response" },
    })
  })

  test("waits for a val that listens after its module was evaluated", async () => {
    const guest = await startVal(`${createServer}
      setTimeout(() => http.createServer((req, res) => res.end("late")).listen(0), 30)`)
    expect(await (await guest.request("/")).text()).toBe("late")
  })

  test("closes", async () => {
    const guest = await startVal(`${createServer}
      const server = http.createServer((req, res) => { res.end("open"); if (req.url === "/close") server.close(() => console.log("closed", server.listening)) }).listen(0)`)
    expect(await (await guest.request("/close", {}, "close")).text()).toBe("open")
    await guest.message((message) => message.kind === "log" && message.message === "closed false")
    expect(await (await guest.request("/")).json()).toMatchObject({
      error: { message: "Cannot respond: the val has closed its server" },
    })
  })

  test("says that other servers have no address", async () => {
    const guest = await startVal(
      `import net from "node:net"
      export default () => new Promise((_, reject) => net.createServer().on("error", reject).listen(5000))`,
      { isHttp: false },
    )
    expect((await guest.callError()).message).toStartWith(
      "Cannot listen on port 5000: a val has no ports of its own; ",
    )
  })

  test("lets a server accept a WebSocket, as packages such as ws do", async () => {
    const guest = await startVal(`${createServer}import { createHash } from "node:crypto"
      http.createServer((req, res) => { res.statusCode = 426; res.end("only sockets") }).on("upgrade", (req, socket) => {
        if (req.url === "/no") { socket.end("HTTP/1.1 403 Forbidden\\r\\nContent-Length: 2\\r\\n\\r\\nno"); return }
        const accept = createHash("sha1").update(req.headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest("base64")
        socket.write("HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Accept: " + accept + "\\r\\n\\r\\n")
        socket.on("data", (frame) => {
          const length = frame[1] & 127, mask = frame.subarray(2, 6)
          const text = frame.subarray(6, 6 + length).map((byte, index) => byte ^ mask[index % 4])
          if ((frame[0] & 15) === 1) socket.write(Buffer.concat([Buffer.from([129, length + 5]), Buffer.from("echo "), text]))
        })
      }).listen(0)`)
    expect(await exchange(guest.inSocket, "hi")).toBe("echo hi")
    expect((await guest.request("/")).status).toBe(426)
  })
})

describe("startServers", () => {
  test.each([
    [
      "a server of node:http",
      `${createServer}export default http.createServer((req, res) => res.end("app"))`,
    ],
    [
      "an app that is a function",
      `${createServer}const app = (req, res) => res.end("app"); app.listen = (...args) => http.createServer(app).listen(...args); export default app`,
    ],
    [
      "an app that takes a moment",
      `${createServer}export default { async listen(...args) { await new Promise((done) => setTimeout(done, 20)); http.createServer((req, res) => res.end("app")).listen(...args) } }`,
    ],
  ])("has an exported app listen: %s", async (_, code) => {
    const guest = await startVal(code)
    expect(await (await guest.request("/")).text()).toBe("app")
  })

  test.each([
    `export default (req, res) => { res.setHeader("x-a", "1"); res.end("node " + req.url) }`,
    `export default async function handler(req, response) { response.setHeader("x-a", "1"); response.end("node " + req.url) }`,
    `export default function (request, res, next) { res.setHeader("x-a", "1"); res.end("node " + request.url) }`,
  ])("calls a function as Node does if its second parameter is a response: %s", async (code) => {
    const guest = await startVal(code)
    const response = await guest.request("/x")
    expect([response.headers.get("x-a"), await response.text()]).toEqual(["1", "node /x"])
    // A call through the API gets the same.
    expect((await guest.call()).value).toMatchObject({ status: 200, body: "node /" })
  })

  test.each([
    ["res.json({ a: 1 })", "7"],
    [`res.send("héllo")`, "6"],
    ["res.send(new Uint8Array(9))", "9"],
    [`res.set("content-length", "5"), res.end()`, "5"],
    [`res.end("hello")`, null],
  ])("sends HEAD the length that it states, and no other: %s", async (statement, length) => {
    const guest = await startVal(`export default (req, res) => { ${statement} }`)
    const response = await guest.request("/", { method: "HEAD" })
    expect([response.status, response.headers.get("content-length")]).toEqual([200, length])
  })

  test("gives a function the path and the query of any request", async () => {
    const guest = await startVal(`export default (req, res) => res.json([req.path, req.query.a])`)
    for (const path of ["/x", "//x/y", "//%00/y", "/%ff"])
      expect(await (await guest.request(`${path}?a=1`)).json()).toEqual([path, "1"])
  })

  test.each([
    `export default (request: Request, info?: unknown) => new Response(typeof request.headers.get)`,
    `export default (request: Request, { waitUntil } = {}) => new Response(typeof request.headers.get)`,
    `export default { fetch: (request, res) => new Response(typeof request.headers.get) }`,
  ])("calls other functions with a Request: %s", async (code) => {
    const guest = await startVal(code)
    expect(await (await guest.request("/x")).text()).toBe("function")
  })

  test("leaves scripts alone", async () => {
    const guest = await startVal(`export default (a: number, res: number) => a + res`, {
      isHttp: false,
    })
    expect((await guest.call([1, 2])).value).toBe(3)
  })
})

/** Sends a text over a WebSocket and resolves to the first reply. */
function exchange(path: string, text: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws+unix://${path}:/hsocket/`)
    socket.onopen = () => socket.send(text)
    socket.onerror = () => reject(new Error("the socket failed"))
    socket.onmessage = ({ data }) => {
      socket.close()
      resolve(data)
    }
  })
}
