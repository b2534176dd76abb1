import { expect, test } from "bun:test"
import { describeAttacks } from "../attacks/support/describe-attacks.ts"
import { whenFetched } from "./when-fetched.ts"

const msMax = 240_000

/** Frameworks whose apps only listen, each in a val that responds at `/x`. */
const frameworks: readonly { readonly name: string; readonly code: string }[] = [
  {
    name: "express",
    code: `import express from "npm:express@5"
      const app = express()
      app.use(express.json())
      app.all("/x", (req, res) => { console.log("handled"); res.json({ path: req.path, body: req.body ?? null }) })
      app.listen(3000)`,
  },
  {
    name: "express, exported",
    code: `import express from "npm:express@4"
      const app = express()
      app.use(express.json())
      app.all("/x", (req, res) => { console.log("handled"); res.json({ path: req.path, body: req.method === "POST" ? req.body : null }) })
      export default app`,
  },
  {
    name: "fastify",
    code: `import Fastify from "npm:fastify@5"
      const app = Fastify()
      app.all("/x", async (request) => { console.log("handled"); return { path: request.url, body: request.body ?? null } })
      app.listen({ port: 3000 })`,
  },
  {
    name: "Deno.serve",
    code: `Deno.serve({ port: 3000 }, async (request) => {
        console.log("handled")
        return Response.json({ path: new URL(request.url).pathname, body: request.method === "POST" ? await request.json() : null })
      })`,
  },
]

describeAttacks("reach/servers", { HAMLET_RUN_SECONDS_MAX: "120" }, (getServer) => {
  test.each(frameworks)(
    "$name responds at the address of the val",
    async ({ code }) => {
      const server = getServer()
      const val = await server.save(server.ada, { code })
      await whenFetched(server, val)
      const got = await server.request(val, { path: "/x" })
      expect([got.status, got.json]).toEqual([200, { path: "/x", body: null }])
      const posted = await server.request(val, {
        path: "/x",
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ a: 1 }),
      })
      expect([posted.status, posted.json]).toEqual([200, { path: "/x", body: { a: 1 } }])
    },
    msMax,
  )

  test(
    "a WebSocket server of the package ws accepts connections",
    async () => {
      const server = getServer()
      const val = await server.save(server.ada, {
        code: `import http from "node:http"
          import { WebSocketServer } from "npm:ws@8"
          const server = http.createServer((req, res) => res.end("http"))
          new WebSocketServer({ server }).on("connection", (socket) => socket.on("message", (text) => socket.send("echo " + text)))
          server.listen(3000)`,
      })
      await whenFetched(server, val)
      expect((await server.request(val)).text).toBe("http")
      const socket = new WebSocket(`ws://127.0.0.1:${server.port}/`, {
        headers: { host: val.host },
      } as unknown as string[])
      const reply = await new Promise((resolve, reject) => {
        socket.onopen = () => socket.send("hi")
        socket.onmessage = ({ data }) => resolve(data)
        socket.onerror = () => reject(new Error("the socket failed"))
      })
      socket.close()
      expect(reply).toBe("echo hi")
    },
    msMax,
  )

  test("an error of a handler fails its run, which its owner sees with its logs", async () => {
    const server = getServer()
    const val = await server.save(server.ada, {
      code: `import http from "node:http"\nhttp.createServer((req, res) => {\n  console.log("before")\n  throw new RangeError("mine")\n}).listen(3000)`,
    })
    const response = await server.request(val, {
      headers: { authorization: `Bearer ${server.ada.token}`, accept: "application/json" },
    })
    expect(response.status).toBe(502)
    expect(response.json.runError).toMatchObject({ name: "RangeError", message: "mine" })
    const { id } = await server.runOf(response, server.ada)
    const run = await server.loggedRun(id, server.ada, 1)
    expect(JSON.stringify(run)).toContain("before")
    expect(JSON.stringify(run)).toMatch(/\.tsx:4:/)
  })

  test("a changed variable stays in its process, and its secret stays masked in logs", async () => {
    const server = getServer()
    const secret = "a-secret-value-of-ada"
    await server.call("PUT", "/v1/me/secrets/CHANGED", { as: server.ada, body: { value: secret } })
    const code = (edit: string) => `export default () => {
      const before = process.env.CHANGED
      ${edit}
      console.log("it was", before)
      return [before === undefined ? "gone" : before.length, process.env.CHANGED ?? "gone"]
    }`
    const val = await server.save(server.ada, { code: code("delete process.env.CHANGED") })
    const other = await server.save(server.ada, { code: code("") })
    const first = await server.request(val)
    expect(first.json).toEqual([secret.length, "gone"])
    expect((await server.request(other)).json[0]).toBe(secret.length)
    const run = await server.runOf(first, server.ada)
    const logged = await server.loggedRun(run.id, server.ada, 1)
    expect(JSON.stringify(logged)).not.toContain(secret)
  })
})
