import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { connect } from "node:net"
import { waitUntil } from "../testing/wait-until.ts"
import { limitReceiveBuffers } from "./receive-buffers.ts"

const limitBytes = 65_536
/** Without the limit, the kernel takes more than this of it. */
const sentBytes = 16_777_216

test.skipIf(process.platform !== "linux")(
  "limitReceiveBuffers limits what the kernel takes of a body that is not read",
  async () => {
    const ended = Promise.withResolvers<void>()
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      async fetch() {
        await ended.promise
        return new Response()
      },
    })
    const port = server.port ?? 0
    expect(limitReceiveBuffers(limitBytes)).toBeGreaterThan(0)
    const socket = connect(port, "127.0.0.1")
    socket.on("error", () => {})
    socket.write(`POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${sentBytes}\r\n\r\n`)
    socket.write(new Uint8Array(sentBytes))
    let before = 0
    const waiting = await waitUntil(() => {
      const now = countReceived(port)
      const isSteady = now > 0 && now === before
      before = now
      return isSteady && now
    })
    socket.destroy()
    ended.resolve()
    await server.stop(true)
    expect(waiting).toBeLessThanOrEqual(2 * limitBytes)
  },
)

/** The bytes that connections to the port have received and the server has not read. */
function countReceived(port: number): number {
  const local = `0100007F:${port.toString(16).toUpperCase().padStart(4, "0")}`
  const rows = readFileSync("/proc/self/net/tcp", "utf8").split("\n")
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter(([, address, , state]) => address === local && state === "01")
    .reduce(
      (sum, [, , , , queues = ""]) => sum + Number.parseInt(queues.split(":")[1] ?? "", 16),
      0,
    )
}
