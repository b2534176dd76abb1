import { connect } from "node:net"

/** An answer as it came over the wire. */
export interface RawResponse {
  readonly status: number
  /** The headers as they came, with names in lower case. */
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
  /** Whether all of it came. */
  readonly isWhole: boolean
}

/** A connection that says nothing for so long has nothing more to say. */
const quietMs = 30_000

/**
 * Sends bytes as they are and gives everything that comes until the server closes the connection.
 */
export function sendRaw(port: number, bytes: string | Uint8Array): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>()
  const received: Buffer[] = []
  const socket = connect({ port, host: "127.0.0.1" })
  socket.setTimeout(quietMs, () => socket.destroy())
  socket.on("data", (chunk: Buffer) => received.push(chunk))
  // A server that closes while we still send resets the connection; what it said before that
  // counts.
  socket.on("error", () => {})
  socket.on("close", () => resolve(Buffer.concat(received)))
  socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes)
  return promise
}

/** A connection that stays open. */
export interface RawConnection {
  /** All that came so far. */
  received(): string
  close(): void
}

/** Sends bytes as they are, and keeps the connection. */
export async function openRaw(port: number, bytes: string): Promise<RawConnection> {
  const opened = Promise.withResolvers<void>()
  let received = ""
  const socket = connect({ port, host: "127.0.0.1" }, () =>
    socket.write(bytes, "latin1", () => opened.resolve()),
  )
  socket.on("data", (chunk) => {
    received += chunk.toString("latin1")
  })
  socket.on("error", opened.reject)
  await opened.promise
  return { received: () => received, close: () => socket.destroy() }
}

/** The answers in what a server sent. Throws where something else is between them. */
export function parseRawResponses(bytes: Buffer): readonly RawResponse[] {
  const responses: RawResponse[] = []
  let rest = bytes.toString("latin1")
  while (rest !== "") {
    const headEnd = rest.indexOf("\r\n\r\n")
    const [statusLine = "", ...lines] = rest.slice(0, headEnd).split("\r\n")
    const status = Number(/^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(statusLine)?.[1])
    if (headEnd < 0 && !Number.isNaN(status))
      return [...responses, { status, headers: [], body: "", isWhole: false }]
    if (Number.isNaN(status))
      throw new Error(`what came is no answer: ${JSON.stringify(rest.slice(0, 500))}`)
    const headers = lines.map(
      (line) =>
        [
          line.slice(0, line.indexOf(":")).toLowerCase(),
          line.slice(line.indexOf(":") + 1).trim(),
        ] as const,
    )
    const { body, isWhole, length } = readBody(rest.slice(headEnd + 4), headers)
    responses.push({ status, headers, body, isWhole })
    rest = rest.slice(headEnd + 4 + length)
  }
  return responses
}

function readBody(
  rest: string,
  headers: RawResponse["headers"],
): { readonly body: string; readonly isWhole: boolean; readonly length: number } {
  if (
    headers.some(
      ([name, value]) => name === "transfer-encoding" && value.toLowerCase() === "chunked",
    )
  )
    return readChunks(rest)
  const length = Number(headers.find(([name]) => name === "content-length")?.[1] ?? 0)
  return { body: rest.slice(0, length), isWhole: rest.length >= length, length }
}

function readChunks(rest: string): {
  readonly body: string
  readonly isWhole: boolean
  readonly length: number
} {
  let body = ""
  let at = 0
  for (;;) {
    const lineEnd = rest.indexOf("\r\n", at)
    const size = Number.parseInt(rest.slice(at, lineEnd), 16)
    if (lineEnd < 0 || Number.isNaN(size)) return { body, isWhole: false, length: rest.length }
    body += rest.slice(lineEnd + 2, lineEnd + 2 + size)
    at = lineEnd + 2 + size + 2
    if (size === 0) return { body, isWhole: true, length: at }
  }
}
