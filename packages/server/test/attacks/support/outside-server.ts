import { once } from "node:events"
import { type AddressInfo, createServer, type Server, type Socket } from "node:net"

/** A request as it came over the wire. */
export interface OutsideRequest {
  readonly method: string
  /** Path and query, as written. */
  readonly target: string
  /** The headers as they came, with names in lower case. */
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
}

/** Responds to a request; the connection stays open unless the function closes it. */
export type RespondToRequest = (socket: Socket, request: OutsideRequest) => void

/**
 * A server outside of Hamlet that parses requests strictly and records them; invalid bytes are
 * recorded as faults. The response is in the address, as `/raw/{anything}?{response}`, or comes from
 * a function for the path.
 */
export class OutsideServer {
  readonly requests: OutsideRequest[] = []
  readonly faults: string[] = []
  connections = 0
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #answers: Readonly<Record<string, RespondToRequest>>

  private constructor(answers: Readonly<Record<string, RespondToRequest>>) {
    this.#answers = answers
    this.#server = createServer((socket) => this.#serve(socket))
  }

  static async listen(
    answers: Readonly<Record<string, RespondToRequest>> = {},
    address = "127.0.0.1",
  ): Promise<OutsideServer> {
    const server = new OutsideServer(answers)
    server.#server.listen(0, address)
    await once(server.#server, "listening")
    return server
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** The requests whose target contains the mark. */
  seen(mark: string): readonly OutsideRequest[] {
    return this.requests.filter(({ target }) => target.includes(mark))
  }

  stop(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
  }

  #serve(socket: Socket): void {
    let rest = ""
    this.connections++
    this.#sockets.add(socket)
    socket.on("error", () => {})
    socket.on("close", () => this.#sockets.delete(socket))
    socket.on("data", (bytes) => {
      rest += bytes.toString("latin1")
      for (
        let parsed = parseRequest(rest);
        parsed !== undefined && !socket.destroyed;
        parsed = parseRequest(rest)
      ) {
        if (typeof parsed === "string") {
          this.faults.push(`${parsed}: ${JSON.stringify(rest.slice(0, 500))}`)
          socket.destroy()
          return
        }
        rest = rest.slice(parsed.length)
        this.requests.push(parsed.request)
        this.#answer(socket, parsed.request)
      }
    })
  }

  #answer(socket: Socket, request: OutsideRequest): void {
    const [path = "", query = ""] = request.target.split("?", 2)
    const response = this.#answers[path]
    if (response) response(socket, request)
    else if (path.startsWith("/raw/") && query !== "") socket.write(Buffer.from(query, "base64url"))
    else socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\noutside`)
  }
}

/** The address at which the server responds with these bytes; the mark identifies the request. */
export function toRawUrl(port: number, mark: string, response: string): string {
  return `http://localhost:${port}/raw/${mark}?${Buffer.from(response, "latin1").toString("base64url")}`
}

/** A redirect as a server writes it. */
export function toRedirect(location: string, status = 302): string {
  return `HTTP/1.1 ${status} Moved\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`
}

/** The first request in a text: undefined if incomplete, an error text if invalid. */
function parseRequest(
  text: string,
): { readonly request: OutsideRequest; readonly length: number } | string | undefined {
  const headEnd = text.indexOf("\r\n\r\n")
  if (headEnd < 0) return undefined
  const [first = "", ...lines] = text.slice(0, headEnd).split("\r\n")
  const [, method, target] = /^([A-Z]+) (\/[\x21-\x7e]*) HTTP\/1\.1$/.exec(first) ?? []
  if (method === undefined || target === undefined) return "no request line"
  const headers = lines.map((line) =>
    /^([!#$%&'*+.^_`|~0-9a-z-]+): ([\x21-\xff](?:[\t\x20-\xff]*[\x21-\xff])?)?$/i
      .exec(line)
      ?.slice(1),
  )
  if (!headers.every((pair): pair is [string, string] => pair !== undefined))
    return "a line that is no header"
  const list = headers.map(([name, value]) => [name.toLowerCase(), value ?? ""] as const)
  const all = (wanted: string) => list.filter(([name]) => name === wanted).map(([, value]) => value)
  const [lengths, codings] = [all("content-length"), all("transfer-encoding")]
  if (all("host").length !== 1) return "not one host"
  if (lengths.length + codings.length > 1) return "more than one length"
  const body =
    codings.length > 0
      ? readChunks(text, headEnd + 4)
      : readLength(text, headEnd + 4, Number(lengths[0] ?? 0))
  if (!body || typeof body === "string") return body
  return { request: { method, target, headers: list, body: body.content }, length: body.end }
}

function readLength(
  text: string,
  at: number,
  length: number,
): { readonly content: string; readonly end: number } | undefined {
  return text.length < at + length
    ? undefined
    : { content: text.slice(at, at + length), end: at + length }
}

function readChunks(
  text: string,
  start: number,
): { readonly content: string; readonly end: number } | string | undefined {
  let content = ""
  for (let at = start; ; ) {
    const lineEnd = text.indexOf("\r\n", at)
    if (lineEnd < 0) return undefined
    const line = text.slice(at, lineEnd)
    if (!/^[0-9a-f]{1,8}$/i.test(line)) return "no length of a chunk"
    const end = lineEnd + 2 + Number.parseInt(line, 16)
    if (text.length < end + 2) return undefined
    if (text.slice(end, end + 2) !== "\r\n") return "a chunk that is longer than it says"
    content += text.slice(lineEnd + 2, end)
    at = end + 2
    if (end === lineEnd + 2) return { content, end: at }
  }
}
