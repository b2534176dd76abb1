import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { connect, type Socket } from "node:net"
import { sql } from "@hamlet/database"
import { findFreePort, notRun, waitUntil } from "@hamlet/kit/testing"
import { countDescriptors } from "../freeze/loop-meter.ts"
import { describeEachDatabase } from "../support/databases.ts"
import { chosenToken, openServerFixture, type ServerFixture } from "../support/server-fixture.ts"

const filesMax = 160
const testMsMax = 240_000
/** The server as a service manager starts it that allows few files. */
const prefix = ["sh", "-c", `ulimit -n ${filesMax}; exec "$@"`, "sh"]

describe("process/open-files", () => {
  let fixture: ServerFixture | undefined
  let [port, metricsPort, pid] = [0, 0, 0]
  const sockets: Socket[] = []
  const headers = { authorization: `Bearer ${chosenToken}`, connection: "close" }
  const open = async (bytes: string, to = port) => {
    const socket = connect(to, "127.0.0.1")
    socket.on("error", () => {})
    sockets.push(socket)
    await new Promise((resolve) => socket.once("connect", resolve))
    socket.write(bytes)
    return socket
  }
  const getMe = () => fetch(`http://127.0.0.1:${port}/v1/me`, { headers })

  beforeAll(async () => {
    fixture = await openServerFixture(undefined, prefix)
    metricsPort = await findFreePort()
    const env = { HAMLET_LOG_LEVEL: "error", HAMLET_METRICS_PORT: String(metricsPort) }
    const { hamlet, baseUrl } = await fixture.serve(env)
    pid = hamlet.pid
    port = Number(new URL(baseUrl).port)
  }, testMsMax)
  afterAll(async () => {
    for (const socket of sockets) socket.destroy()
    await fixture?.[Symbol.asyncDispose]()
  })

  test(
    "idle connections, with and without a request before, are closed for those that are not",
    async () => {
      for (let count = 0; count < 2 * filesMax; count++)
        await open(count % 2 === 0 ? "" : "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
      // Without it, the server accepts nothing for two minutes.
      expect((await getMe()).status).toBe(200)
    },
    testMsMax,
  )

  test(
    "requests are refused with 503 when those that are served take all, and later served again",
    async () => {
      const received: string[] = []
      const follow = `GET /v1/me/logs HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${chosenToken}\r\naccept: text/event-stream\r\n\r\n`
      /** A request that keeps its place until the rest of its body arrives. */
      const unfinished = `POST /v1/eval HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${chosenToken}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{`
      const fill = async () => {
        await Promise.all(Array.from({ length: 8 }, () => open(unfinished)))
        const text = await request()
        return text?.startsWith("HTTP/1.1 503 ") && text
      }
      const request = async () => {
        const socket = await open(follow)
        const index = received.push("") - 1
        socket.on("data", (bytes) => {
          received[index] += bytes.toString("latin1")
        })
        await waitUntil(() => received[index] !== "")
        return received[index]
      }
      // How many are served before depends on the processes that the server has.
      const refused = await waitUntil(fill, { msMax: 180_000 })
      expect(refused).toContain('"code":"overloaded"')
      expect(refused).toMatch(/^retry-after: \d+\r$/im)
      expect(received.some((text) => text.startsWith("HTTP/1.1 500 "))).toBe(false)
      expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200)
      for (const socket of sockets.splice(0)) socket.destroy()
      await waitUntil(async () => (await getMe()).status === 200)
    },
    testMsMax,
  )

  test(
    "connections to the port of the metrics take few files",
    async () => {
      for (let count = 0; count < 2 * filesMax; count++)
        await open(count % 2 === 0 ? "" : "GET /metrics HTTP/1.1\r\n", metricsPort)
      expect(countDescriptors(pid)).toBeLessThan(filesMax / 2)
      expect((await getMe()).status).toBe(200)
      // Open connections send no request in time, and then others have room.
      const read = () => fetch(`http://127.0.0.1:${metricsPort}/metrics`).catch(() => undefined)
      await waitUntil(async () => (await read())?.status === 200)
    },
    testMsMax,
  )
})

const prlimit = Bun.which("prlimit")

if (prlimit === null) notRun("a node without a free descriptor", "prlimit is not installed")
else
  describeEachDatabase("process/open-files", (open) => {
    test(
      "a node without a free descriptor keeps its lease, and ends no other node",
      async () => {
        await using fixture = await openServerFixture(open)
        const { hamlet } = await fixture.serve({ HAMLET_LOG_LEVEL: "warn" })
        const db = await fixture.connect()
        const readLease = async () => {
          const [node] = await db.read<{ leaseUntil: number; isGone: boolean }>(
            sql`select lease_until, is_gone from nodes where pid = ${hamlet.pid}`,
          )
          return node
        }
        const before = (await readLease())?.leaseUntil ?? 0
        const limit = (files: number) =>
          Bun.spawnSync([prlimit, "--pid", String(hamlet.pid), `--nofile=${files}:`])

        expect(limit(countDescriptors(hamlet.pid)).exitCode).toBe(0)
        // Several times: some reports may need no descriptor.
        await waitUntil(async () => ((await readLease())?.leaseUntil ?? 0) > before + 6_000)

        expect((await readLease())?.isGone).toBe(false)
        limit(1_024)
        await db.stop()
        expect(hamlet.stderr).not.toContain("lease_lost")
      },
      testMsMax,
    )
  })
