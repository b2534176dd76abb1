import { connect, type Socket } from "node:net"
import { join } from "node:path"
import type { AttackServer, SavedVal } from "./attack-server.ts"

/** A connection that says nothing for so long has nothing more to say. */
const quietMs = 3_000

/**
 * The door of the sandbox in which a val is, as somebody finds it who has got past everything
 * inside.
 */
export async function findEgressSocket(server: AttackServer, val: SavedVal): Promise<string> {
  const { folder } = await server.sandboxOf(val)
  return join(folder, "run", "out.sock")
}

/** A connection to a door; what comes is in `received`. */
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

  /**
   * Ends it when nothing has come for a while; where the door has nothing to say nobody else will
   * close it.
   */
  stopWhenQuiet(): void {
    this.#socket.setTimeout(quietMs, () => this.#socket.destroy())
  }
}

/**
 * Sends bytes, in so many parts, and gives everything that comes until the door closes the
 * connection.
 */
export async function sendToEgress(path: string, ...parts: readonly string[]): Promise<string> {
  const visitor = await EgressConnection.connect(path)
  visitor.stopWhenQuiet()
  for (const part of parts) {
    visitor.write(part)
    // So that it is read by itself.
    await new Promise((resolve) => setImmediate(resolve))
  }
  await visitor.closed
  return visitor.received
}
