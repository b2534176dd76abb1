import { connect } from "node:net"

/** How the client leaves: when the server does, after it has said everything, or in the middle. */
export type CloseMode = "wait" | "end" | "cut"

/** An answer as it came over the wire. */
export interface ParsedResponse {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** The server closes connections itself; a busy one must not be left before it has responded. */
const quietMsDefault = 10_000

/**
 * Sends bytes as they are, and gives everything that the server answers until the connection is
 * closed. After `quietMs` without data, the client ends its side and reads the rest.
 */
export function exchange(
  port: number,
  bytes: string | Uint8Array,
  leaving: CloseMode = "wait",
  quietMs = quietMsDefault,
): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>()
  const received: Buffer[] = []
  const socket = connect({ port, host: "127.0.0.1" })
  socket.setTimeout(quietMs, () => socket.end())
  socket.on("data", (chunk: Buffer) => received.push(chunk))
  // A server that closes while we still send resets the connection; what it said before that
  // counts.
  socket.on("error", () => {})
  socket.on("close", () => resolve(Buffer.concat(received)))
  socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes, () => {
    if (leaving === "end") socket.end()
    if (leaving === "cut") socket.destroy()
  })
  return promise
}

/**
 * The answers in what a server sent; throws when it is not a row of whole ones. `isHead` tells of
 * each request whether it was a HEAD.
 */
export function parseResponses(
  bytes: Buffer,
  isHead: (index: number) => boolean = () => false,
): readonly ParsedResponse[] {
  const responses: ParsedResponse[] = []
  let rest = bytes
  while (rest.length > 0) {
    const headEnd = rest.indexOf("\r\n\r\n")
    const [statusLine = "", ...lines] = rest.subarray(0, headEnd).toString("latin1").split("\r\n")
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1])
    if (headEnd < 0 || !Number.isInteger(status))
      throw new Error(`no answer: ${rest.subarray(0, 500).toString("latin1")}`)
    const headers = new Headers(
      lines.map((line): [string, string] => [
        line.slice(0, line.indexOf(":")),
        line.slice(line.indexOf(":") + 1).trim(),
      ]),
    )
    const length = isHead(responses.length) ? 0 : Number(headers.get("content-length") ?? 0)
    const body = rest.subarray(headEnd + 4, headEnd + 4 + length)
    if (body.length < length)
      throw new Error(`an answer of ${length} bytes ended after ${body.length}`)
    rest = rest.subarray(headEnd + 4 + length)
    // 100 says only that an answer will come.
    if (status !== 100) responses.push({ status, headers, text: body.toString() })
  }
  return responses
}
