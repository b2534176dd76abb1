import type http from "node:http"
import type stream from "node:stream"
import { getBuiltIn } from "../globals/built-ins.ts"
import { upgradeHttpRaw } from "../internals.ts"
import { clientAddressOf } from "./listener.ts"

type Http = typeof http
type Stream = typeof stream
type Pair = readonly [client: stream.Duplex, server: stream.Duplex]

/** Headers that describe one connection are not passed on from one to the other. */
const ofConnection = new Set(["connection", "keep-alive", "transfer-encoding", "expect"])
const withoutBody = new Set([101, 103, 204, 205, 304])

/**
 * Has a server of node:http or node:https respond to a request. Between them is a connection in
 * memory with Node's own client at its other end, so that the server behaves as it does behind a
 * socket: bodies are streamed, and it may upgrade the connection to a WebSocket.
 */
export async function respondWith(server: http.Server, request: Request): Promise<Response> {
  const { request: send } = getBuiltIn("http") as unknown as Http
  const url = new URL(request.url)
  const isSecure = url.protocol === "https:"
  const [client, connection] = connect(request, isSecure)
  // A server of node:https accepts a connection after its handshake.
  server.emit("_sharedCreds" in server ? "secureConnection" : "connection", connection)
  const isUpgrade = request.headers.get("upgrade") !== null
  const outgoing = send({
    createConnection: () => client,
    method: request.method,
    path: url.pathname + url.search,
    headers: toNodeHeaders(request, url, isUpgrade),
    setHost: false,
  })
  const response = new Promise<Response>((resolve, reject) => {
    outgoing.once("response", (message) => resolve(toWebResponse(message, request.method)))
    outgoing.once("upgrade", (message, socket, head) => {
      if (isUpgrade) return resolve(takeOver(request, message, socket, head))
      socket.destroy()
      reject(
        new Error(
          "Cannot respond: the server switched protocols, which the request did not ask for",
        ),
      )
    })
    outgoing.once("error", (cause) => reject(withoutResponse(cause)))
  })
  sendBody(request, outgoing)
  return await response
}

function connect(request: Request, isSecure: boolean): Pair {
  const { duplexPair } = getBuiltIn("stream") as unknown as Stream & { duplexPair(): Pair }
  const [client, connection] = duplexPair()
  const ignore = () => connection
  // What servers and frameworks read from a socket.
  Object.assign(connection, {
    remoteAddress: clientAddressOf(request),
    remotePort: 0,
    remoteFamily: "IPv4",
    localAddress: "127.0.0.1",
    localPort: 80,
    encrypted: isSecure,
    setTimeout: ignore,
    setNoDelay: ignore,
    setKeepAlive: ignore,
    ref: ignore,
    unref: ignore,
  })
  closeWith(client, connection)
  closeWith(connection, client)
  return [client, connection]
}

/** A pair of streams passes on the end of one side, but not that it was destroyed. */
function closeWith(side: stream.Duplex, other: stream.Duplex): void {
  side.once("close", () => {
    if (!side.writableFinished) other.destroy()
  })
}

function toNodeHeaders(
  request: Request,
  url: URL,
  isUpgrade: boolean,
): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = { host: url.host }
  for (const [name, value] of request.headers) if (!ofConnection.has(name)) headers[name] = value
  if (isUpgrade) headers.connection = "Upgrade"
  else headers.connection = "close"
  return headers
}

function sendBody(request: Request, outgoing: http.ClientRequest): void {
  if (request.body === null) {
    outgoing.end()
    return
  }
  const { Readable, pipeline } = getBuiltIn("stream") as unknown as Stream
  // A server may respond without reading the whole body, and an error of the response is reported.
  pipeline(Readable.fromWeb(request.body as never), outgoing, () => {})
}

function toWebResponse(message: http.IncomingMessage, method: string): Response {
  const status = message.statusCode ?? 500
  const hasBody = method !== "HEAD" && !withoutBody.has(status)
  const { Readable } = getBuiltIn("stream") as unknown as Stream
  if (!hasBody) message.resume()
  // Deno would state a length of 0 where the server states none.
  const isOfUnknownLength = method === "HEAD" && message.headers["content-length"] === undefined
  const empty = isOfUnknownLength && !withoutBody.has(status) ? createEmptyStream() : null
  const body = hasBody ? (Readable.toWeb(message) as ReadableStream<Uint8Array>) : empty
  return new Response(body, {
    status,
    statusText: message.statusMessage ?? "",
    headers: toWebHeaders(message),
  })
}

function createEmptyStream(): ReadableStream<Uint8Array> {
  return new ReadableStream({ start: (controller) => controller.close() })
}

function toWebHeaders(message: http.IncomingMessage): Headers {
  const headers = new Headers()
  const { rawHeaders } = message
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string
    if (!ofConnection.has(name.toLowerCase())) headers.append(name, rawHeaders[index + 1] as string)
  }
  return headers
}

/** Connects the client's connection with the server's, after the server has accepted an upgrade. */
function takeOver(
  request: Request,
  message: http.IncomingMessage,
  socket: stream.Duplex,
  head: Uint8Array,
): Response {
  const { response, conn } = upgradeHttpRaw(request)
  let text = `HTTP/1.1 ${message.statusCode} ${message.statusMessage}\r\n`
  const { rawHeaders } = message
  for (let index = 0; index < rawHeaders.length; index += 2)
    text += `${rawHeaders[index]}: ${rawHeaders[index + 1]}\r\n`
  void pump(conn, socket, [new TextEncoder().encode(`${text}\r\n`), head])
  return response
}

async function pump(
  conn: Deno.Conn,
  socket: stream.Duplex,
  first: readonly Uint8Array[],
): Promise<void> {
  const { Readable, Writable } = getBuiltIn("stream") as unknown as Stream
  const writer = conn.writable.getWriter()
  for (const bytes of first) if (bytes.length > 0) await writer.write(new Uint8Array(bytes))
  writer.releaseLock()
  const out = (Readable.toWeb(socket) as ReadableStream<Uint8Array<ArrayBuffer>>).pipeTo(
    conn.writable,
  )
  const back = conn.readable.pipeTo(Writable.toWeb(socket) as WritableStream<Uint8Array>)
  // A failure of one side closes the other: there is no response left to report it in.
  await Promise.allSettled([out, back])
  socket.destroy()
}

function withoutResponse(cause: Error): Error {
  return new Error("Cannot respond: the server closed the connection without a response", { cause })
}
