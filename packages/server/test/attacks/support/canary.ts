import { once } from "node:events"
import { type AddressInfo, createServer, type Server, type Socket } from "node:net"
import { networkInterfaces } from "node:os"

/** Listens where no connection is allowed, and counts those that arrive. */
export class Canary {
  connections = 0
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor() {
    this.#server = createServer((socket) => {
      this.connections++
      this.#sockets.add(socket)
      socket.on("error", () => {})
      socket.on("close", () => this.#sockets.delete(socket))
      // Without a response a probe might fail for another reason than that it was refused.
      socket.once("data", () =>
        socket.end("HTTP/1.1 200 OK\r\ncontent-length: 8\r\nconnection: close\r\n\r\ncaptured"),
      )
    })
  }

  static async listen(address: string, port = 0): Promise<Canary> {
    const canary = new Canary()
    canary.#server.listen(port, address)
    await once(canary.#server, "listening")
    return canary
  }

  /** On all addresses of this machine. */
  static async listenEverywhere(): Promise<Canary> {
    return await Canary.listen(hasIPv6 ? "::" : "0.0.0.0")
  }

  /** On each of these addresses, at a port that is the same for all. */
  static async listenTogether(addresses: readonly string[]): Promise<readonly Canary[]> {
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const canaries: Canary[] = []
      try {
        for (const address of addresses)
          canaries.push(await Canary.listen(address, canaries[0]?.port))
        return canaries
      } catch {
        // The port is taken on one of them.
        for (const canary of canaries) canary.stop()
      }
    }
    throw new Error(`there is no port that is free on all of ${addresses.join(", ")}`)
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  stop(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
  }
}

const attemptsMax = 20
export const hasIPv6 = Object.values(networkInterfaces()).some((list) =>
  list?.some(({ address }) => address === "::1"),
)
