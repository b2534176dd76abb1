/** A connection to a server of a test. */
export type UpstreamSocket = Bun.Socket<{
  text: string
  tail: string
  bytes: number
  index: number
}>

interface Certificate {
  readonly cert: string
  readonly key: string
}

/** Called with everything that a connection has received so far. */
type Act = (socket: UpstreamSocket, text: string) => unknown

/** How much of the received bytes is kept: the beginning, and the end. */
const textBytesMax = 1_000_000
const tailBytes = 16

/** A server that sends what the test wants. */
export class UpstreamServer {
  readonly #listener: Bun.TCPSocketListener<UpstreamSocket["data"]>
  readonly sockets: UpstreamSocket[] = []
  closed = 0
  onDrain: ((socket: UpstreamSocket) => void) | undefined

  constructor(
    act: Act,
    tls?: Certificate,
    at: { readonly hostname: string; readonly port: number } = { hostname: "127.0.0.1", port: 0 },
  ) {
    this.#listener = Bun.listen<UpstreamSocket["data"]>({
      ...at,
      ...(tls && { tls }),
      socket: {
        open: (socket) => {
          socket.data = { text: "", tail: "", bytes: 0, index: this.sockets.length }
          this.sockets.push(socket)
        },
        data: (socket, bytes) => {
          socket.data.bytes += bytes.length
          socket.data.tail = (
            socket.data.tail + bytes.toString("latin1", Math.max(0, bytes.length - tailBytes))
          ).slice(-tailBytes)
          if (socket.data.bytes < textBytesMax) socket.data.text += bytes.toString("latin1")
          act(socket, socket.data.text)
        },
        drain: (socket) => this.onDrain?.(socket),
        close: () => void this.closed++,
        error: () => {},
      },
    })
  }

  get port(): number {
    return this.#listener.port
  }

  /** What the first connection, or another one, has received. */
  received(index = 0): string {
    return this.sockets[index]?.data.text ?? ""
  }

  stop(): void {
    this.#listener.stop(true)
  }

  [Symbol.dispose](): void {
    this.stop()
  }
}

/** A response with a body. */
export function toResponse(body: string, headers = "", status = "200 OK"): string {
  return `HTTP/1.1 ${status}\r\n${headers}content-length: ${body.length}\r\n\r\n${body}`
}

/** Counts requests, or responses, without a body. */
export function countRequests(text: string): number {
  return text.split("\r\n\r\n").length - 1
}
