import { connect, type Socket } from "node:net"

/** The connections of one drive: they end together. */
export class Connections implements Disposable {
  readonly #open = new Set<Socket>()
  #hasEnded = false

  /** Connects. A failure is an end: servers may close what they do not want. */
  async open(port: number): Promise<Socket> {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true, allowHalfOpen: true })
    this.add(socket)
    const { promise, resolve } = Promise.withResolvers<void>()
    socket.once("connect", resolve)
    socket.once("close", () => resolve())
    await promise
    return socket
  }

  add(socket: Socket): void {
    this.#open.add(socket)
    socket.on("error", () => {})
    socket.once("close", () => this.#open.delete(socket))
    if (this.#hasEnded) socket.destroy()
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  [Symbol.dispose](): void {
    this.#hasEnded = true
    for (const socket of this.#open) socket.destroy()
  }
}
