import { createServer, type Server, type Socket } from "node:net"
import { type Manner, mannerLimits } from "./manner.ts"
import { toChunks, write } from "./write.ts"

/** Enough for every decoder; what is endless ends here. */
const answerBytesMax = 300_000

/**
 * A port before the server outside that answers in a manner: its bodies arrive whole, in chunks of one
 * byte, or slowly.
 */
export class OutsideRelay implements Disposable {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  manner: Manner = "whole"

  private constructor(url: string) {
    this.#server = createServer((socket) => {
      this.#sockets.add(socket)
      socket.on("close", () => this.#sockets.delete(socket))
      socket.on("error", () => {})
      void readRequest(socket).then((request) => request && this.#answer(socket, url, request))
    })
  }

  static async open(url: string): Promise<OutsideRelay> {
    const relay = new OutsideRelay(url)
    const { promise, resolve } = Promise.withResolvers<void>()
    relay.#server.listen(0, "127.0.0.1", resolve)
    await promise
    return relay
  }

  get url(): string {
    const address = this.#server.address()
    return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`
  }

  async #answer(socket: Socket, url: string, { method, path, body }: ReadRequest): Promise<void> {
    const response = await fetch(`${url}${path}`, {
      method,
      ...(body.length > 0 ? { body } : {}),
    })
    const bytes = await readStart(response)
    const type = response.headers.get("content-type") ?? "text/plain"
    const head = `HTTP/1.1 ${response.status} OK\r\ncontent-type: ${type}\r\nconnection: close\r\n`
    const { manner } = this
    if (manner === "pieces") {
      socket.write(`${head}transfer-encoding: chunked\r\n\r\n`)
      socket.end(toChunks(bytes))
      return
    }
    socket.write(`${head}content-length: ${bytes.length}\r\n\r\n`)
    await write(socket, bytes, manner)
    socket.end()
  }

  [Symbol.dispose](): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }
}

interface ReadRequest {
  readonly method: string
  readonly path: string
  readonly body: Uint8Array<ArrayBuffer>
}

/**
 * Reads a request up to the end of its body, which has a length or is in chunks; these stay as they
 * arrive.
 */
function readRequest(socket: Socket): Promise<ReadRequest | undefined> {
  const { promise, resolve } = Promise.withResolvers<ReadRequest | undefined>()
  let all = Buffer.alloc(0)
  socket.on("close", () => resolve(undefined))
  socket.on("data", (chunk: Buffer) => {
    all = Buffer.concat([all, chunk])
    const end = all.indexOf("\r\n\r\n")
    if (end < 0) return
    const head = all.subarray(0, end).toString("latin1")
    const body = all.subarray(end + 4)
    const isComplete = /^transfer-encoding: chunked/im.test(head)
      ? body.subarray(-5).equals(Buffer.from("0\r\n\r\n"))
      : body.length >= Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0)
    const [method = "", path = ""] = head.split(" ")
    if (isComplete) resolve({ method, path, body: new Uint8Array(body) })
  })
  return promise
}

async function readStart(response: Response): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of response.body ?? []) {
    parts.push(part)
    bytes += part.length
    if (bytes >= answerBytesMax) break
  }
  return Buffer.concat(parts).subarray(0, Math.max(mannerLimits.piecesMax, answerBytesMax))
}
