import { connect, type Socket } from "node:net"
import { join } from "node:path"
import type { AttackServer, SavedVal } from "./attack-server.ts"

/** After so long without data, nothing more is expected. */
const quietMs = 20_000

/** The egress socket of a val's sandbox, as an attacker finds it who controls the whole sandbox. */
export async function findEgressSocket(server: AttackServer, val: SavedVal): Promise<string> {
  const { folder } = await server.sandboxOf(val)
  return join(folder, "run", "out.sock")
}

/** A connection to an egress socket. */
export class EgressConnection {
  received = ""
  readonly closed: Promise<void>
  readonly #socket: Socket

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on("error", () => {})
    socket.on("data", (bytes) => {
      this.received += bytes.toString("latin1")
    })
    this.closed = new Promise((resolve) => socket.on("close", () => resolve()))
  }

  static async connect(path: string): Promise<EgressConnection> {
    const socket = connect(path)
    const visitor = new EgressConnection(socket)
    await Promise.race([new Promise((resolve) => socket.once("connect", resolve)), visitor.closed])
    return visitor
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed
  }

  write(bytes: string): void {
    this.#socket.write(Buffer.from(bytes, "latin1"))
  }

  stop(): void {
    this.#socket.destroy()
  }

  /** Closes the connection after a while without data: the listener may leave it open. */
  stopWhenQuiet(): void {
    this.#socket.setTimeout(quietMs, () => this.#socket.destroy())
  }
}

/** Sends bytes in several parts and returns everything received until the connection closes. */
export async function sendToEgress(path: string, ...parts: readonly string[]): Promise<string> {
  const visitor = await EgressConnection.connect(path)
  visitor.stopWhenQuiet()
  for (const part of parts) {
    visitor.write(part)
    // Makes the listener read each part by itself.
    await new Promise((resolve) => setImmediate(resolve))
  }
  await visitor.closed
  return visitor.received
}
