import type { Socket } from "node:net"
import type { SlowRequest } from "../../freeze/door.ts"
import type { Connections } from "./connections.ts"
import { type Manner, mannerLimits } from "./manner.ts"
import { toChunks, write } from "./write.ts"

/** What came back. A client that does not read, or that was cut off, has no status. */
export interface Exchanged {
  readonly status: number | undefined
  /** The beginning of the answer. */
  readonly text: string
  readonly bytes: number
}

const keptCharsMax = 2_000
const encoder = new TextEncoder()
const nothing: Exchanged = { status: undefined, text: "", bytes: 0 }

/** Sends a request over a connection of its own, in a manner, and waits for the end of the answer. */
export async function exchange(
  connections: Connections,
  port: number,
  request: SlowRequest,
  manner: Manner,
): Promise<Exchanged> {
  const body = toBytes(request.body)
  const isChunked = manner === "pieces" && body !== undefined
  const head = encoder.encode(toHead(port, request, isChunked ? "chunked" : body?.length))
  const socket = await connections.open(port)
  const isRead = manner !== "unread"
  const answer = isRead ? readAnswer(socket) : Promise.resolve(nothing)
  if (isChunked) socket.write(Buffer.concat([head, toChunks(body)]))
  else await write(socket, body ? Buffer.concat([head, body]) : head, manner)
  if (isRead) return await answer
  socket.pause()
  await Bun.sleep(mannerLimits.unreadMs)
  socket.destroy()
  return nothing
}

function toBytes(body: SlowRequest["body"]): Uint8Array | undefined {
  return typeof body === "string" ? encoder.encode(body) : body
}

function toHead(port: number, request: SlowRequest, length: number | "chunked" | undefined) {
  const headers = {
    host: `127.0.0.1:${port}`,
    connection: "close",
    ...request.headers,
    ...(length === undefined
      ? {}
      : length === "chunked"
        ? { "transfer-encoding": "chunked" }
        : { "content-length": String(length) }),
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${request.method} ${request.path} HTTP/1.1\r\n${lines.join("")}\r\n`
}

function readAnswer(socket: Socket): Promise<Exchanged> {
  const { promise, resolve } = Promise.withResolvers<Exchanged>()
  let text = ""
  let bytes = 0
  socket.on("data", (chunk: Buffer) => {
    bytes += chunk.length
    if (text.length < keptCharsMax) text += chunk.subarray(0, keptCharsMax).toString("latin1")
  })
  const end = () => {
    const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(text) ?? []
    resolve({ status: status === undefined ? undefined : Number(status), text, bytes })
    socket.destroy()
  }
  socket.once("end", end)
  socket.once("close", end)
  return promise
}
