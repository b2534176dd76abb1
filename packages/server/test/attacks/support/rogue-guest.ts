import { once } from "node:events"
import { chmodSync, rmSync } from "node:fs"
import { createServer, type Server, type Socket } from "node:net"
import { dirname, join } from "node:path"
import { findReady } from "./sandboxes.ts"

/** What a server does that has replaced the guest at the socket of a sandbox. */
export type RogueBehaviour = (socket: Socket, requests: number) => void

/**
 * Replaces the guest of the one sandbox that waits for a val, as if a val had escaped every limit
 * inside of it. The next val that needs a process gets this one.
 */
export class RogueGuest {
  /** Connections that the host has made. */
  connections = 0
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(path: string, act: RogueBehaviour) {
    this.#server = createServer((socket) => {
      this.connections++
      this.#sockets.add(socket)
      let requests = 0
      socket.on("error", () => {})
      socket.on("close", () => this.#sockets.delete(socket))
      socket.on("data", (chunk) => {
        if (/^(GET|POST) \//.test(chunk.toString("latin1"))) act(socket, ++requests)
      })
    })
    // An ordinary user may not write to the folder.
    chmodSync(dirname(path), 0o700)
    rmSync(path)
    this.#server.listen(path)
  }

  static async replace(serverPid: number, act: RogueBehaviour): Promise<RogueGuest> {
    const { folder } = await findReady(serverPid)
    const rogue = new RogueGuest(join(folder, "run", "in.sock"), act)
    if (!rogue.#server.listening) await once(rogue.#server, "listening")
    return rogue
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
