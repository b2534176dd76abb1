import { afterAll, expect, test } from "bun:test"
import { createSecureServer } from "node:http2"
import { createServer, type Server, type Socket } from "node:net"
import { createServer as createTlsServer } from "node:tls"
import { createAuthority } from "@hamlet/kit/testing"
import type { AttackServer } from "../attacks/support/attack-server.ts"
import { describeAttacks } from "../attacks/support/describe-attacks.ts"

const authority = createAuthority()

/** The outside world: servers on this machine, which the operator lets vals reach. */
const opened = new Set<Socket>()
const echo = await listen(
  createServer({ allowHalfOpen: true }, (socket) => {
    track(socket)
    socket.write("hello\n")
    socket.on("data", (bytes) => void socket.write(`echo ${bytes}`))
    socket.on("end", () => void socket.end("bye\n"))
  }),
)
const secure = await listen(
  createTlsServer(authority.issue("localhost"), (socket) => {
    track(socket)
    socket.on("data", (bytes) => void socket.write(`secure ${bytes}`))
  }),
)
const web = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: async (request) =>
    new Response(`${request.method} ${new URL(request.url).pathname} ${await request.text()}`),
})
const secureWeb = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  tls: authority.issue("localhost"),
  fetch: () => new Response("secure"),
})

const secondVersion = createSecureServer(authority.issue("localhost"))
secondVersion.on("stream", (stream, headers) => void stream.end(`second ${headers[":path"]}`))
const second = await listen(secondVersion)

function track(socket: Socket): void {
  opened.add(socket)
  socket.on("close", () => opened.delete(socket))
  socket.on("error", () => {})
}

async function listen(server: Server): Promise<{ readonly port: number; stop(): void }> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as { readonly port: number }
  return { port, stop: () => void server.close() }
}

afterAll(async () => {
  for (const socket of opened) socket.destroy()
  echo.stop()
  secure.stop()
  second.stop()
  await Promise.all([web.stop(true), secureWeb.stop(true)])
  authority[Symbol.dispose]()
})

const ports = [echo.port, secure.port, second.port, web.port, secureWeb.port]
const settings = { HAMLET_EGRESS_ALLOW: ports.map((port) => `localhost:${port}`).join(",") }

/** What a val of ada's makes of the statements, and its run. */
async function evaluate(server: AttackServer, statements: string, imports = "") {
  const val = await server.save(server.ada, {
    code: `${imports}\nexport default async () => { try { return Response.json({ got: await (async () => { ${statements} })() ?? null }) } catch (error) { return Response.json({ error: error.name + ": " + error.message, code: error.code }) } }`,
  })
  const response = await server.request(val)
  if (response.json === undefined) throw new Error(`${response.status} ${response.text}`)
  return { ...response.json, run: await server.runOf(response, server.ada) }
}

describeAttacks("reach/sockets", settings, (getServer) => {
  test("node:net connects, sends and receives, and the run lists the connection", async () => {
    const { got, error, run } = await evaluate(
      getServer(),
      `return await new Promise((resolve, reject) => {
        const socket = net.connect(${echo.port}, "localhost")
        let text = ""
        socket.on("connect", () => socket.end("ping"))
        socket.on("data", (bytes) => { text += bytes })
        socket.on("close", () => resolve([text, socket.remotePort ?? null]))
        socket.on("error", reject)
      })`,
      `import net from "node:net"`,
    )
    expect(error).toBeUndefined()
    expect(got[0]).toBe("hello\necho pingbye\n")
    expect(run.egress).toMatchObject({ requests: 1, blocked: 0, bytesSent: 4, bytesReceived: 19 })
    expect(run.egress.list).toEqual([
      {
        at: expect.any(String),
        method: "CONNECT",
        url: `tcp://localhost:${echo.port}`,
        status: null,
        blocked: null,
        bytesSent: 4,
        bytesReceived: 19,
        durationMs: expect.any(Number),
      },
    ])
  })

  const ca = JSON.stringify(authority.ca)
  const uses: Readonly<
    Record<string, readonly [statements: string, expected: unknown, imports?: string]>
  > = {
    "node:net with the name of a function": [
      `const socket = connect(${echo.port}, "localhost"); const text = await new Promise((resolve, reject) => { socket.once("data", resolve); socket.once("error", reject) }); const { remoteAddress, remotePort, remoteFamily } = socket; socket.destroy(); return [String(text), remoteAddress, remotePort, remoteFamily]`,
      ["hello\n", "127.0.0.1", echo.port, "IPv4"],
      `import { connect } from "node:net"`,
    ],
    "node:net that is imported while the val runs": [
      `const net = await import("node:" + "net"); const socket = net.connect(${echo.port}, "localhost"); const text = await new Promise((resolve, reject) => { socket.once("data", resolve); socket.once("error", reject) }); socket.destroy(); return String(text)`,
      "hello\n",
    ],
    "node:tls with an authority of its own": [
      `const socket = tls.connect({ host: "localhost", port: ${secure.port}, ca: ${ca} }); const text = await new Promise((resolve, reject) => { socket.once("secureConnect", () => socket.write("ping")); socket.once("data", resolve); socket.once("error", reject) }); const { authorized } = socket; socket.destroy(); return [String(text), authorized]`,
      ["secure ping", true],
      `import tls from "node:tls"`,
    ],
    "node:tls over a socket that is open": [
      `const plain = net.connect(${secure.port}, "localhost"); await new Promise((resolve, reject) => { plain.once("connect", resolve); plain.once("error", reject) }); const socket = tls.connect({ socket: plain, servername: "localhost", ca: ${ca} }); const text = await new Promise((resolve, reject) => { socket.once("secureConnect", () => socket.write("ping")); socket.once("data", resolve); socket.once("error", reject) }); socket.destroy(); return String(text)`,
      "secure ping",
      `import net from "node:net"; import tls from "node:tls"`,
    ],
    "node:http": [
      `return await new Promise((resolve, reject) => { const request = http.request({ host: "localhost", port: ${web.port}, path: "/x", method: "POST" }, (response) => { let text = ""; response.on("data", (bytes) => { text += bytes }); response.on("end", () => resolve(text)) }); request.on("error", reject); request.end("body") })`,
      "POST /x body",
      `import http from "node:http"`,
    ],
    "node:https": [
      `return await new Promise((resolve, reject) => { https.get("https://localhost:${secureWeb.port}/", { ca: ${ca} }, (response) => { let text = ""; response.on("data", (bytes) => { text += bytes }); response.on("end", () => resolve(text)) }).on("error", reject) })`,
      "secure",
      `import https from "node:https"`,
    ],
    "node:http2 with an authority of its own": [
      `const session = http2.connect("https://localhost:${second.port}", { ca: ${ca} }); try { return await new Promise((resolve, reject) => { session.once("error", reject); const stream = session.request({ ":path": "/x" }); let text = ""; stream.on("data", (bytes) => { text += bytes }); stream.on("end", () => resolve(text)); stream.on("error", reject); stream.end() }) } finally { session.close() }`,
      "second /x",
      `import http2 from "node:http2"`,
    ],
    "node:dns and node:dns/promises": [
      `return [await lookup("localhost", { family: 4 }), await dns.promises.lookup("localhost", { all: true }), await new Promise((resolve, reject) => dns.lookup("localhost", 4, (error, address) => error ? reject(error) : resolve(address))), await resolve4("localhost"), await dns.promises.resolve6("localhost")]`,
      [
        { address: "127.0.0.1", family: 4 },
        [
          { address: "127.0.0.1", family: 4 },
          { address: "::1", family: 6 },
        ],
        "127.0.0.1",
        ["127.0.0.1"],
        ["::1"],
      ],
      `import dns from "node:dns"; import { lookup, resolve4 } from "node:dns/promises"`,
    ],
    "Deno.connect": [
      `using connection = await Deno.connect({ hostname: "localhost", port: ${echo.port} }); await connection.write(new TextEncoder().encode("ping")); await connection.closeWrite(); return [await new Response(connection.readable).text(), connection.remoteAddr]`,
      ["hello\necho pingbye\n", { transport: "tcp", hostname: "127.0.0.1", port: echo.port }],
    ],
    "Deno.connectTls": [
      `const connection = await Deno.connectTls({ hostname: "localhost", port: ${secure.port}, caCerts: [${ca}] }); await connection.write(new TextEncoder().encode("ping")); const bytes = new Uint8Array(100); const count = await connection.read(bytes); connection.close(); return new TextDecoder().decode(bytes.subarray(0, count))`,
      "secure ping",
    ],
    "Deno.startTls": [
      `const plain = await Deno.connect({ hostname: "localhost", port: ${secure.port} }); const connection = await Deno.startTls(plain, { hostname: "localhost", caCerts: [${ca}] }); await connection.write(new TextEncoder().encode("ping")); const bytes = new Uint8Array(100); const count = await connection.read(bytes); connection.close(); return new TextDecoder().decode(bytes.subarray(0, count))`,
      "secure ping",
    ],
    "node:net and Deno.connect in a Worker": [
      `const code = 'import net from "node:net"; onmessage = async ({ data }) => { const connection = await Deno.connect({ hostname: "localhost", port: data }); const bytes = new Uint8Array(100); const count = await connection.read(bytes); connection.close(); const socket = net.connect(data, "localhost"); socket.once("error", (error) => postMessage(error.message)); socket.once("data", (text) => { socket.destroy(); postMessage([new TextDecoder().decode(bytes.subarray(0, count)), String(text)]) }) }'
      const worker = new Worker("data:application/javascript," + encodeURIComponent(code), { type: "module" })
      worker.postMessage(${echo.port})
      try { return await new Promise((resolve, reject) => { worker.onmessage = ({ data }) => resolve(data); worker.onerror = (event) => { event.preventDefault(); reject(new Error(event.message)) } }) } finally { worker.terminate() }`,
      ["hello\n", "hello\n"],
    ],
    "node:net in a Worker of node:worker_threads that has code": [
      `const code = 'const net = require("node:net"); const { parentPort, workerData } = require("node:worker_threads"); const socket = net.connect(workerData, "localhost"); socket.once("error", (error) => parentPort.postMessage(error.message)); socket.once("data", (text) => { socket.destroy(); parentPort.postMessage([String(text), __filename.endsWith("[worker eval]"), typeof module]) })'
      const worker = new Worker(code, { eval: true, workerData: ${echo.port} })
      try { return await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject)) } finally { await worker.terminate() }`,
      ["hello\n", true, "object"],
      `import { Worker } from "node:worker_threads"`,
    ],
    "Deno.connect in a Worker of node:worker_threads that has a module": [
      `const code = 'import { parentPort } from "node:worker_threads"; parentPort.on("message", async (port) => { const connection = await Deno.connect({ hostname: "localhost", port }); const bytes = new Uint8Array(100); const count = await connection.read(bytes); connection.close(); parentPort.postMessage(new TextDecoder().decode(bytes.subarray(0, count))) })'
      await Deno.writeTextFile("/tmp/worker.mjs", code)
      const all = []
      for (const specifier of [new URL("data:text/javascript," + encodeURIComponent(code)), "/tmp/worker.mjs", "./worker.mjs"]) {
        const worker = new Worker(specifier)
        worker.postMessage(${echo.port})
        try { all.push(await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject))) } finally { await worker.terminate() }
      }
      return all`,
      ["hello\n", "hello\n", "hello\n"],
      `import { Worker } from "node:worker_threads"`,
    ],
    "localStorage and caches in a Worker": [
      `const code = 'localStorage.setItem("a", "1"); const cache = await caches.open("v1"); await cache.put("http://example.com/", new Response("kept")); postMessage([localStorage.getItem("a"), await (await caches.match("http://example.com/")).text()])'
      const worker = new Worker("data:application/javascript," + encodeURIComponent(code), { type: "module" })
      try { return await new Promise((resolve, reject) => { worker.onmessage = ({ data }) => resolve(data); worker.onerror = (event) => { event.preventDefault(); reject(new Error(event.message)) } }) } finally { worker.terminate() }`,
      ["1", "kept"],
    ],
    "a request to this server by a client that then ends its side": [
      `const url = new URL(Deno.env.get("HAMLET_URL")); const socket = net.connect({ host: url.hostname, port: Number(url.port), allowHalfOpen: true })
      socket.end("GET /healthz HTTP/1.1\\r\\nhost: " + url.host + "\\r\\n\\r\\n"); let text = ""; for await (const part of socket) text += part; return text.slice(0, 12)`,
      "HTTP/1.1 200",
      `import net from "node:net"`,
    ],
    "Deno.resolveDns": [`return await Deno.resolveDns("localhost", "A")`, ["127.0.0.1"]],
  }

  for (const [title, [statements, expected, imports]] of Object.entries(uses))
    test(`${title} works`, async () => {
      const { got, error } = await evaluate(getServer(), statements, imports)
      expect(error ?? got).toEqual(expected)
    })

  const refusals: Readonly<
    Record<string, readonly [statements: string, error: RegExp, imports?: string]>
  > = {
    "a certificate of an unknown authority": [
      `const socket = tls.connect(${secure.port}, "localhost"); await new Promise((resolve, reject) => { socket.once("secureConnect", resolve); socket.once("error", reject) })`,
      /^Error: .*(issuer|self|unable|Unknown)/i,
      `import tls from "node:tls"`,
    ],
    "a private address": [
      `const socket = net.connect(5432, "10.0.0.1"); await new Promise((resolve, reject) => { socket.once("connect", resolve); socket.once("error", reject) })`,
      /^Error: Cannot connect to "10\.0\.0\.1:5432": 10\.0\.0\.1 is a private address$/,
      `import net from "node:net"`,
    ],
    "a port that is closed": [
      `await Deno.connect({ hostname: "93.184.216.34", port: 25 })`,
      /^NotCapable: Cannot connect to "93\.184\.216\.34:25": port 25 is not among those that programs may reach over sockets; the operator can add it to HAMLET_EGRESS_SOCKET_PORTS$/,
    ],
    "a name that does not exist": [
      `await Deno.connect({ hostname: "nowhere.invalid", port: 443 })`,
      /^Error: Cannot connect to "nowhere\.invalid:443": nowhere\.invalid (cannot be found|was not found in time)$/,
    ],
    UDP: [
      `const socket = dgram.createSocket("udp4"); await new Promise((resolve, reject) => { socket.once("error", reject); socket.bind(0, resolve) })`,
      /^Error: Cannot use UDP: /,
      `import dgram from "node:dgram"`,
    ],
    "a server of node:net": [
      `await new Promise((resolve, reject) => { net.createServer().once("error", reject).listen(3000, resolve) })`,
      /^Error: Cannot listen on port 3000: /,
      `import net from "node:net"`,
    ],
    "Deno.listen": [`Deno.listen({ port: 3000 })`, /^NotCapable: Cannot listen on port 3000: /],
    "a record of this machine": [
      `await dns.resolveMx("a.localhost")`,
      /^Error: Cannot look up MX of "a\.localhost": a\.localhost is the machine on which the server runs$/,
      `import dns from "node:dns/promises"`,
    ],
    "a record of this machine for Deno": [
      `await Deno.resolveDns("a.localhost", "TXT")`,
      /^NotCapable: Cannot look up TXT of "a\.localhost": a\.localhost is the machine on which the server runs$/,
    ],
    "all records of a name": [
      `await dns.resolveAny("example.com")`,
      /^Error: Cannot look up all records of "example\.com": /,
      `import dns from "node:dns/promises"`,
    ],
    "a Unix socket of the machine": [
      `await Deno.connect({ transport: "unix", path: "/var/run/docker.sock" })`,
      /^NotCapable: Cannot connect to "\/var\/run\/docker\.sock": /,
    ],
  }

  for (const [title, [statements, expected, imports]] of Object.entries(refusals))
    test(`${title} is refused with a sentence`, async () => {
      const { got, error } = await evaluate(getServer(), statements, imports)
      expect(error ?? `it got ${JSON.stringify(got)}`).toMatch(expected)
    })

  test("node:http reaches the API and other vals, and each request is listed", async () => {
    const server = getServer()
    const callee = await server.save(server.ada, {
      code: `export default (request: Request) => new Response("called at " + new URL(request.url).pathname)`,
    })
    const get = (url: string) =>
      `await new Promise((resolve, reject) => http.get("${url}", { agent, headers: { authorization: "Bearer " + Deno.env.get("HAMLET_TOKEN") } }, (response) => { let text = ""; response.on("data", (bytes) => { text += bytes }); response.on("end", () => resolve([response.statusCode, text])) }).on("error", reject))`
    const { got, run } = await evaluate(
      server,
      `const agent = new http.Agent({ keepAlive: true }); const first = ${get(`http://${callee.host}/a`)}; const second = ${get(`http://${callee.host}/b`)}; const [status, text] = ${get(`${server.baseUrl}/v1/me`)}; agent.destroy(); return [first, second, status, JSON.parse(text).username]`,
      `import http from "node:http"`,
    )
    expect(got).toEqual([[200, "called at /a"], [200, "called at /b"], 200, "ada"])
    expect(
      run.egress.list.map(({ method, url, status }: RunEntry) => [method, url, status]),
    ).toEqual([
      ["GET", `http://${callee.host}/a`, 200],
      ["GET", `http://${callee.host}/b`, 200],
      ["GET", `${server.baseUrl}/v1/me`, 200],
    ])
  })

  test("a connection outlives its run, and each run that uses it lists its own bytes", async () => {
    const server = getServer()
    const val = await server.save(server.ada, {
      code: `import net from "node:net"
let socket
const exchange = (text) => new Promise((resolve, reject) => {
  let got = ""
  const onData = (bytes) => { got += bytes; if (got.endsWith("echo " + text)) { socket.off("data", onData); resolve(got) } }
  socket.on("data", onData)
  socket.once("error", reject)
  socket.write(text)
})
export default async (request: Request) => {
  socket ??= net.connect(${echo.port}, "localhost")
  return new Response(await exchange(new URL(request.url).pathname.slice(1)))
}`,
    })
    const seen = []
    for (const path of ["one", "three", "eleven"]) {
      const response = await server.request(val, { path: `/${path}` })
      const { egress } = await server.runOf(response, server.ada)
      seen.push([response.text, egress.requests, egress.bytesSent, egress.bytesReceived])
      expect(egress.list[0].url).toBe(`tcp://localhost:${echo.port}`)
    }
    expect(seen).toEqual([
      ["hello\necho one", 1, 3, 14],
      ["echo three", 1, 5, 10],
      ["echo eleven", 1, 6, 11],
    ])
  })
})

describeAttacks(
  "reach/sockets with the operator's authorities",
  { ...settings, HAMLET_EGRESS_CA: authority.path },
  (getServer) => {
    test("node:tls, node:https and Deno.connectTls trust them, and Deno's as well", async () => {
      const { got, error } = await evaluate(
        getServer(),
        `const socket = tls.connect(${secure.port}, "localhost"); const text = await new Promise((resolve, reject) => { socket.once("secureConnect", () => socket.write("ping")); socket.once("data", resolve); socket.once("error", reject) }); socket.destroy()
        const status = await new Promise((resolve, reject) => https.get("https://localhost:${secureWeb.port}/", (response) => { response.resume(); resolve(response.statusCode) }).on("error", reject))
        const connection = await Deno.connectTls({ hostname: "localhost", port: ${secure.port} }); connection.close()
        return [String(text), status, tls.rootCertificates.length > 100]`,
        `import tls from "node:tls"; import https from "node:https"`,
      )
      expect(error ?? got).toEqual(["secure ping", 200, true])
    })
  },
)

interface RunEntry {
  readonly method: string
  readonly url: string
  readonly status: number | null
}
