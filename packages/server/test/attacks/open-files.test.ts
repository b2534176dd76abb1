import { afterAll, expect } from "bun:test"
import { readdirSync } from "node:fs"
import { createServer, type Socket } from "node:net"
import { egressLimits } from "@hamlet/sandbox"
import type { AttackServer, SavedVal } from "./support/attack-server.ts"
import { describeAttacks, probe } from "./support/describe-attacks.ts"

const head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n"
/** Responds in two parts, or not to the end. */
const accepted = new Set<Socket>()
const outside = createServer((socket) => {
  accepted.add(socket)
  socket.on("error", () => {})
  socket.on("close", () => accepted.delete(socket))
  socket.on("data", (bytes) => {
    socket.write(head)
    if (!String(bytes).startsWith("GET /endless")) setImmediate(() => socket.write("0\r\n\r\n"))
  })
})
await new Promise<void>((resolve) => outside.listen(0, "127.0.0.1", resolve))
const { port } = outside.address() as { readonly port: number }
afterAll(() => {
  for (const socket of accepted) socket.destroy()
  outside.close()
})

const filesMax = 100
const settings = {
  HAMLET_EGRESS_ALLOW: `127.0.0.1:${port}`,
  HAMLET_EGRESS_FILES_MAX: String(filesMax),
  HAMLET_IDLE_SECONDS: "300",
}

const countFiles = (server: AttackServer) => readdirSync(`/proc/${server.hamlet.pid}/fd`).length

/** A val that gets a response and does not read it, as one that posts to a chat. */
const toUnread = (path: string) =>
  `export default async () => new Response(String((await fetch("http://127.0.0.1:${port}${path}")).status))`

async function runOften(server: AttackServer, val: SavedVal, runs: number): Promise<string[]> {
  const texts: string[] = []
  for (let count = 0; count < runs; count += 4)
    texts.push(
      ...(await Promise.all(
        Array.from({ length: 4 }, async () => (await server.request(val)).text),
      )),
    )
  return texts
}

describeAttacks("attacks/open-files", settings, (getServer) => {
  probe(getServer, "a val does not read the responses that it gets", async (server) => {
    const carol = await server.addUser("carol")
    const val = await server.save(carol, { code: toUnread("/") })
    await server.request(val)
    const before = countFiles(server)
    expect(new Set(await runOften(server, val, 120))).toEqual(new Set(["200"]))
    // The other files are those that the val may keep, idle connections to the other server, and
    // those of other probes.
    const others = filesMax + 40
    expect(countFiles(server) - before).toBeLessThan(egressLimits.keptMax + others)
  })

  probe(getServer, "vals of one account leave more responses open than it may", async (server) => {
    const vals = await Promise.all(
      [1, 2, 3].map(() => server.save(server.mallory, { code: toUnread("/endless") })),
    )
    const neighbour = await server.save(server.bob, {
      code: `export default async () => new Response(await (await fetch("http://127.0.0.1:${port}/")).text())`,
    })
    for (const val of vals) {
      expect(new Set(await runOften(server, val, 60))).toEqual(new Set(["200"]))
      expect((await server.request(neighbour)).text).toBe("ok")
    }
  })

  probe(getServer, "a val holds more connections than its account may have", async (server) => {
    const dan = await server.addUser("dan")
    const val = await server.save(dan, {
      code: `export default async () => {
        const outcomes = await Promise.allSettled(Array.from({ length: ${filesMax} }, () => fetch("http://127.0.0.1:${port}/endless")))
        return Response.json(outcomes.map(({ reason }) => reason?.message ?? "got"))
      }`,
    })
    const { json } = await server.request(val)
    const messages = [...new Set(json as string[])].filter((message) => message !== "got")
    expect(messages.length).toBeGreaterThan(0)
    for (const message of messages)
      expect(message).toMatch(/has too many connections open|have too many connections open/)
  })
})
