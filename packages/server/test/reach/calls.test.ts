import { expect, test } from "bun:test"
import { waitUntil } from "@hamlet/kit/testing"
import { describeAttacks } from "../attacks/support/describe-attacks.ts"

describeAttacks("reach/calls", {}, (getServer) => {
  const addressOf = (host: string, scheme = "http") => `${scheme}://${host}`

  test("a val does not see the server's metrics, which a proxy may hide", async () => {
    const server = getServer()
    const metrics = await server.save(server.bob, {
      code: `import net from "node:net"
      const read = (path) => new Promise((resolve, reject) => {
        const { hostname, port } = new URL(Deno.env.get("HAMLET_URL"))
        const socket = net.connect(Number(port), hostname, () =>
          socket.write("GET " + path + " HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n"))
        socket.once("data", (data) => { resolve(Number(String(data).split(" ")[1])); socket.destroy() })
        socket.once("error", reject)
      })
      export default async () => {
        const statuses = []
        for (const path of ["/healthz", "/metrics", "/metrics?a"]) {
          const response = await fetch(Deno.env.get("HAMLET_URL") + path)
          await response.text()
          statuses.push(response.status, await read(path))
        }
        return statuses
      }`,
    })
    expect((await server.request(metrics)).json).toEqual([200, 200, 404, 404, 404, 404])
  })

  test("a val calls three others: a response, a stream and a WebSocket", async () => {
    const server = getServer()
    const { bob, mallory, ada } = server
    const adds = await server.save(bob, {
      code: `export default async (request) => { const { a, b } = await request.json(); return { sum: a + b } }`,
    })
    // What follows the first part is said only when whoever reads has heard that.
    const streams = await server.save(mallory, {
      code: `const heard = Promise.withResolvers()
      export default (request) => {
        if (new URL(request.url).pathname === "/heard") return heard.resolve()
        return new Response(new ReadableStream({ async start(controller) {
          const say = (n) => controller.enqueue(new TextEncoder().encode("part " + n + "\\n"))
          say(0)
          await heard.promise
          for (let n = 1; n < 5; n++) say(n)
          controller.close() } }))
      }`,
    })
    const echoes = await server.save(mallory, {
      code: `export default (request) => { const { socket, response } = Deno.upgradeWebSocket(request)
        socket.onmessage = ({ data }) => socket.send("echo " + data); return response }`,
    })
    const caller = await server.save(ada, {
      code: `export default async () => {
        const summed = await (await fetch("${addressOf(adds.host)}", { method: "POST", body: JSON.stringify({ a: 2, b: 3 }) })).json()
        const parts = []
        for await (const part of (await fetch("${addressOf(streams.host)}")).body.pipeThrough(new TextDecoderStream())) {
          if (parts.push(part) === 1) await (await fetch("${addressOf(streams.host)}/heard")).text()
        }
        const echo = await new Promise((resolve, reject) => {
          const socket = new WebSocket("${addressOf(echoes.host, "ws")}")
          socket.onopen = () => socket.send("hello")
          socket.onmessage = ({ data }) => { resolve(data); socket.close() }
          socket.onerror = (event) => reject(new Error(event.message))
        })
        return { ...summed, text: parts.join(""), isStreamed: parts.length > 1, echo }
      }`,
    })
    const response = await server.request(caller)
    const text = Array.from({ length: 5 }, (_, n) => `part ${n}\n`).join("")
    expect(response.json).toEqual({ sum: 5, text, isStreamed: true, echo: "echo hello" })
    // A WebSocket counts when both sides have closed it, which may be after the answer.
    const egress = await waitUntil(async () => {
      const run = await server.runOf(response, ada)
      return run.egress.requests === 4 ? run.egress : undefined
    })
    expect(egress).toMatchObject({ requests: 4, blocked: 0 })
    expect(
      egress.list
        .map(({ method, status }: { method: string; status: number }) => `${method} ${status}`)
        .sort(),
    ).toEqual(["GET 101", "GET 200", "GET 204", "POST 200"])
    expect(egress.bytesReceived).toBeGreaterThan(text.length)
  })

  test("a chain of vals ends at depth 15, and the caller beyond gets the reason", async () => {
    const server = getServer()
    const val = await server.save(server.bob, {
      code: `export default async (request) => {
        const depth = Number(new URL(request.url).searchParams.get("depth") ?? 0)
        try { return await (await fetch(new URL("/?depth=" + (depth + 1), request.url))).json() } catch (error) { return { depth, message: error.message } }
      }`,
    })
    const { json } = await server.request(val)
    expect(json).toEqual({
      depth: 15,
      message: expect.stringMatching(/^Cannot fetch "http:\/\/bob-v\d+\.localhost:\d+\/[^"]*": /),
    })
  })

  test("a val cannot lengthen the chain by forging its depth", async () => {
    const server = getServer()
    const val = await server.save(server.bob, {
      code: `export default async (request) => {
        const depth = Number(new URL(request.url).searchParams.get("depth") ?? 0)
        if (depth > 20) return { depth }
        const headers = { "x-hamlet-depth": "0", "x-hamlet-run": "x " + crypto.randomUUID() }
        try { return await (await fetch(new URL("/?depth=" + (depth + 1), request.url), { headers })).json() } catch { return { depth } }
      }`,
    })
    expect((await server.request(val)).json).toEqual({ depth: 15 })
  })

  test("a val calls the API with its own token, at the address in its environment", async () => {
    const server = getServer()
    const val = await server.save(server.ada, {
      code: `export default async () => {
        const headers = { authorization: "Bearer " + Deno.env.get("HAMLET_TOKEN") }
        const me = await fetch(Deno.env.get("HAMLET_URL") + "/v1/me", { headers })
        const created = await fetch(Deno.env.get("HAMLET_URL") + "/v1/vals", { method: "POST", headers, body: JSON.stringify({ code: "1" }) })
        return [me.status, (await me.json()).username, created.status]
      }`,
    })
    expect((await server.request(val)).json).toEqual([200, "ada", 403])
  })
})
