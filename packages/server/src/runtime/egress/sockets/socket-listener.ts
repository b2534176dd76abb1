import type { RunListener } from "../../../domain/runs/runner.ts"
import { clientHandlers, ProxiedSocket } from "./proxied-socket.ts"
import type { ClientEvents, SandboxSocket, SocketContext } from "./socket-context.ts"

/** Listens at the Unix socket of one sandbox for the TCP connections of its val. */
export class SocketListener {
  readonly #context: SocketContext
  readonly #listener: Bun.UnixSocketListener<ClientEvents>
  readonly #sockets = new Set<ProxiedSocket>()
  #isStopped = false

  constructor(path: string, context: SocketContext) {
    this.#context = context
    this.#listener = Bun.listen<ClientEvents>({
      unix: path,
      allowHalfOpen: true,
      socket: { ...clientHandlers, open: (socket) => this.#accept(socket) },
    })
  }

  /** How many connections from the sandbox are open. */
  get size(): number {
    return this.#sockets.size
  }

  noteRunEnd(run: RunListener): void {
    for (const socket of this.#sockets) socket.noteRunEnd(run)
  }

  sweep(nowMs: number): void {
    for (const socket of this.#sockets) socket.sweep(nowMs)
  }

  stop(): void {
    this.#isStopped = true
    // This removes the socket file, too.
    this.#listener.stop(true)
    for (const socket of this.#sockets) socket.stop()
  }

  #accept(client: SandboxSocket): void {
    const { connectionsMax, sparesMax } = this.#context.limits
    const socket = new ProxiedSocket(this.#context, client)
    client.data = socket
    const isFull = this.#isStopped || this.#sockets.size >= connectionsMax + sparesMax
    const endCount = isFull ? undefined : this.#context.admit()
    if (!endCount) return void client.terminate()
    this.#sockets.add(socket)
    void socket.run().then(() => {
      this.#sockets.delete(socket)
      endCount()
    })
  }
}
