import { connect, type Socket } from "node:net"
import type { Door, Stage } from "../door.ts"

const counts = { silentClients: 100, largeHeads: 20, requests: 1_000 }
/** Between the requests of the other user: it is not the one who keeps the server busy. */
const pauseMs = 20
const start = "GET /metrics HTTP/1.1\r\nhost: localhost\r\n"

/** Sends the text, and resolves with the response when the server has closed the connection. */
function exchange(port: number, text: string, onOpen?: (socket: Socket) => void): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const chunks: Buffer[] = []
  const socket = connect(port, "127.0.0.1")
  socket.on("connect", () => {
    if (text !== "") socket.write(text)
    onOpen?.(socket)
  })
  socket.on("data", (chunk: Buffer) => chunks.push(chunk))
  // The server may close it before it has read all.
  socket.on("error", () => {})
  socket.on("close", () => resolve(Buffer.concat(chunks).toString("latin1")))
  return promise
}

/** Does the work, and throws if another user is refused meanwhile. */
async function besideUser({ client }: Stage, work: Promise<unknown>): Promise<void> {
  let hasEnded = false
  const ended = work.finally(() => {
    hasEnded = true
  })
  do {
    await client.getMe()
    await Bun.sleep(pauseMs)
  } while (!hasEnded)
  await ended
}

/** A line of a head every second, until the server closes the connection. */
function trickle(socket: Socket): void {
  const timer = setInterval(() => socket.write("a: b\r\n"), 1_000)
  socket.on("close", () => clearInterval(timer))
}

/** The port of `HAMLET_METRICS_PORT`. */
export const metricsPortDoors: readonly Door[] = [
  {
    name: "metrics port: clients that send nothing, half a head, or a line now and then",
    drive: (stage) =>
      besideUser(
        stage,
        Promise.all(
          Array.from({ length: counts.silentClients }, (_, index) =>
            exchange(
              stage.metricsPort,
              index % 3 === 0 ? "" : start,
              index % 3 === 1 ? trickle : undefined,
            ),
          ),
        ),
      ),
  },
  {
    name: "metrics port: large heads",
    drive: (stage) =>
      besideUser(
        stage,
        Promise.all(
          Array.from({ length: counts.largeHeads }, (_, index) =>
            exchange(
              stage.metricsPort,
              `${start}${index % 2 === 0 ? `a: ${"b".repeat(1_000_000)}` : "a: b\r\n".repeat(200_000)}`,
            ),
          ),
        ),
      ),
  },
  {
    name: "metrics port: many requests",
    drive: (stage) =>
      besideUser(
        stage,
        Promise.all(
          Array.from({ length: counts.requests }, () =>
            exchange(stage.metricsPort, `${start}\r\n`),
          ),
        ).then((responses) => {
          const codes = new Set(responses.map((text) => text.slice(9, 12)))
          // A connection beyond the limit is closed without a response.
          for (const code of codes)
            if (!["", "200", "429"].includes(code)) throw new Error(`The status is ${code}`)
        }),
      ),
  },
]
