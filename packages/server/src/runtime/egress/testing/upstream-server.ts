/** A connection to a server of a test. */
export type OutsideSocket = Bun.Socket<{ text: string; tail: string; bytes: number; index: number }>

interface Certificate {
  readonly cert: string
  readonly key: string
}

/** What a server does with what it has got on a connection so far. */
type Act = (socket: OutsideSocket, text: string) => unknown

/** What is kept of what a server hears: the beginning, and the end. */
const textBytesMax = 1_000_000
const tailBytes = 16

/** A server that says what the test wants. */
export class Outside {
  readonly #listener: Bun.TCPSocketListener<OutsideSocket["data"]>
  readonly sockets: OutsideSocket[] = []
  closed = 0
  onDrain: ((socket: OutsideSocket) => void) | undefined

  constructor(
    act: Act,
    tls?: Certificate,
    at: { readonly hostname: string; readonly port: number } = { hostname: "127.0.0.1", port: 0 },
  ) {
    this.#listener = Bun.listen<OutsideSocket["data"]>({
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

  /** What came on the first connection, or on another. */
  heard(index = 0): string {
    return this.sockets[index]?.data.text ?? ""
  }

  stop(): void {
    this.#listener.stop(true)
  }

  [Symbol.dispose](): void {
    this.stop()
  }
}

/** An answer with a body. */
export function say(body: string, headers = "", status = "200 OK"): string {
  return `HTTP/1.1 ${status}\r\n${headers}content-length: ${body.length}\r\n\r\n${body}`
}

/** How many requests without a body there are. */
export function countRequests(text: string): number {
  return text.split("\r\n\r\n").length - 1
}
