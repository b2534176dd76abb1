import { createServer, type Socket } from "node:net"
import type { Connections } from "./connections.ts"
import { type Manner, mannerLimits } from "./manner.ts"
import { write } from "./write.ts"

/**
 * A port that passes on to another one, for clients of protocols with a dialogue: what a client sends
 * arrives in the manner, and of the answers only a beginning is read where the manner is not to read.
 */
export class Relay implements AsyncDisposable {
  readonly #server = createServer()
  readonly #connections: Connections

  private constructor(connections: Connections) {
    this.#connections = connections
  }

  static async open(connections: Connections, port: number, manner: Manner): Promise<Relay> {
    const relay = new Relay(connections)
    relay.#server.on("connection", (client) => void relay.#pass(client, port, manner))
    const { promise, resolve } = Promise.withResolvers<void>()
    relay.#server.listen(0, "127.0.0.1", resolve)
    await promise
    return relay
  }

  get port(): number {
    const address = this.#server.address()
    return typeof address === "object" ? (address?.port ?? 0) : 0
  }

  async #pass(client: Socket, port: number, manner: Manner): Promise<void> {
    this.#connections.add(client)
    // What arrives before the other connection is open is kept in its order.
    let sent: Promise<void> = this.#connections.open(port).then((server) => {
      passBack(server, client, manner)
      client.once("close", () => server.destroy())
      client.once("end", () => void sent.then(() => server.end()))
      forward = (chunk) => write(server, chunk, manner)
    })
    let forward: (chunk: Uint8Array) => Promise<void> = () => Promise.resolve()
    client.on("data", (chunk: Buffer) => {
      sent = sent.then(() => forward(chunk))
    })
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#server.close()
    return Promise.resolve()
  }
}

function passBack(server: Socket, client: Socket, manner: Manner): void {
  let bytes = 0
  server.on("data", (chunk: Buffer) => {
    client.write(chunk)
    bytes += chunk.length
    if (manner !== "unread" || bytes < mannerLimits.unreadBytesMin) return
    server.pause()
    setTimeout(() => server.destroy(), mannerLimits.unreadMs)
  })
  server.once("end", () => client.end())
  server.once("close", () => client.destroy())
}
