import { connect } from "node:net"
import { chosenToken } from "../../support/server-fixture.ts"
import type { Door, Stage } from "../door.ts"
import { openSocket, startProcess } from "../open-socket.ts"

/** Connections of one client, and the chunks of one byte that each sends. */
const counts = {
  connections: 50,
  chunks: 20_000,
  largeBodies: 8,
  largeChunks: 2_000_000,
  sockets: 10,
  frames: 100_000,
}

/** A request whose body comes in chunks of one byte. */
interface Piecemeal {
  readonly path: string
  readonly host?: string
  readonly hasToken?: boolean
}

/** Sends it over as many connections at once, and waits until each has a response or is closed. */
async function sendPieces(
  stage: Stage,
  { path, host = stage.host, hasToken }: Piecemeal,
  connections: number,
  chunks: number,
): Promise<void> {
  const [, port] = stage.host.split(":")
  const head = [
    `${path.startsWith("/v1/blob") ? "PUT" : "POST"} ${path} HTTP/1.1`,
    `host: ${host}`,
    "content-type: application/x-www-form-urlencoded",
    ...(hasToken ? [`authorization: Bearer ${chosenToken}`] : []),
    "connection: close",
    "transfer-encoding: chunked\r\n\r\n",
  ].join("\r\n")
  const body = Buffer.from(`${"1\r\nx\r\n".repeat(chunks)}0\r\n\r\n`)
  const send = () =>
    new Promise<void>((resolve) => {
      const socket = connect(Number(port), "127.0.0.1", () => {
        socket.write(head)
        socket.write(body)
      })
      socket.on("data", () => {})
      socket.on("error", () => {})
      socket.on("close", () => resolve())
    })
  await Promise.all(Array.from({ length: connections }, send))
}

const bodies: Readonly<Record<string, Piecemeal>> = {
  "OAuth token": { path: "/oauth/token" },
  "OAuth registration": { path: "/oauth/register" },
  "code to evaluate": { path: "/v1/eval", hasToken: true },
  blob: { path: "/v1/blob/pieces", hasToken: true },
  "messages of assistants": { path: "/mcp", hasToken: true },
  "language model": { path: "/v1/openai/chat/completions", hasToken: true },
}

/** Frames of a client with one byte each, with a mask that changes nothing. */
const frames: Readonly<Record<string, readonly number[]>> = {
  messages: [0x82, 0x81, 0, 0, 0, 0, 0x61],
  pings: [0x89, 0x81, 0, 0, 0, 0, 0x61],
  pongs: [0x8a, 0x81, 0, 0, 0, 0, 0x61],
  fragments: [0x00, 0x81, 0, 0, 0, 0, 0x61],
}

/** Opens WebSockets to a public val, and sends so many frames over each. */
async function sendFrames({ host }: Stage, frame: readonly number[]): Promise<void> {
  await startProcess(host, "ada-sockets")
  const [, port = ""] = host.split(":")
  const head = [
    "GET / HTTP/1.1",
    `host: ada-sockets.localhost:${port}`,
    "connection: upgrade",
    "upgrade: websocket",
    "sec-websocket-version: 13",
    "sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
  ].join("\r\n")
  // Fragments belong to a message that has begun.
  const start = frame[0] === 0 ? [0x02, 0x80, 0, 0, 0, 0] : []
  const close = [0x88, 0x80, 0, 0, 0, 0]
  const bytes = new Uint8Array([
    ...start,
    ...Array.from({ length: counts.frames }, () => frame).flat(),
    ...close,
  ])
  const send = () =>
    new Promise<void>((resolve) => {
      const socket = connect(Number(port), "127.0.0.1", () => socket.write(head))
      socket.once("data", () => {
        socket.write(bytes)
        socket.end()
      })
      socket.on("data", () => {})
      socket.on("error", () => {})
      socket.on("close", () => resolve())
    })
  await Promise.all(Array.from({ length: counts.sockets }, send))
}

/** What comes in as many pieces as its bytes allow. */
export const pieceDoors: readonly Door[] = [
  ...Object.entries(bodies).map(([name, request]) => ({
    name: `pieces: ${name}`,
    drive: (stage: Stage) => sendPieces(stage, request, counts.connections, counts.chunks),
  })),
  {
    name: "pieces: request to a val",
    async drive(stage) {
      await startProcess(stage.host, "ada-responds")
      const [, port = ""] = stage.host.split(":")
      const request = { path: "/", host: `ada-responds.localhost:${port}` }
      await sendPieces(stage, request, counts.connections, counts.chunks)
    },
  },
  ...Object.entries(frames).map(([name, frame]) => ({
    name: `pieces: WebSocket ${name}`,
    drive: (stage: Stage) => sendFrames(stage, frame),
  })),
  {
    name: "pieces: WebSocket messages of a val",
    async drive({ host }) {
      await startProcess(host, "ada-sockets")
      const sockets = await Promise.all(
        Array.from({ length: counts.sockets }, () => openSocket(host, "ada-sockets")),
      )
      for (const socket of sockets) socket.send("small")
      await Promise.all(sockets.map(({ closed }) => closed))
    },
  },
  {
    name: "pieces: responses to a val",
    async drive({ send, outside }) {
      const body = JSON.stringify({ args: [`${outside.url}/pieces`] })
      await send({ method: "POST", path: "/v1/run/ada.readsPieces", body })
    },
  },
  {
    name: "pieces: large bodies",
    drive: (stage) =>
      sendPieces(
        stage,
        { path: "/v1/eval", hasToken: true },
        counts.largeBodies,
        counts.largeChunks,
      ),
  },
]
