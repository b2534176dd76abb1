import type { RunListener } from "../../../domain/runs/runner.ts"
import type { ClientEvents, EgressContext, SandboxSocket } from "../egress-context.ts"
import { PacedListener } from "../paced-listener.ts"
import { clientHandlers, ProxiedSocket } from "./proxied-socket.ts"

/** Listens at the Unix socket of one sandbox for the TCP connections of its val. */
export class SocketListener {
  readonly #context: EgressContext
  readonly #listener: PacedListener<ClientEvents>
  readonly #sockets = new Set<ProxiedSocket>()
  #isStopped = false

  constructor(path: string, context: EgressContext) {
    this.#context = context
    this.#listener = new PacedListener(path, context.limits, clientHandlers, (socket) =>
      this.#accept(socket),
    )
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
    this.#listener.sweep(nowMs)
  }

  stop(): void {
    this.#isStopped = true
    this.#listener.stop()
    for (const socket of this.#sockets) socket.stop()
  }

  #accept(client: SandboxSocket): void {
    const { connectionsMax, sparesMax } = this.#context.limits
    const socket = new ProxiedSocket(this.#context, client)
    client.data = socket
    const isFull = this.#isStopped || this.#sockets.size >= connectionsMax + sparesMax
    const endCount = isFull ? undefined : this.#context.openFile()
    if (!endCount) return void client.terminate()
    this.#sockets.add(socket)
    void socket.run().then(() => {
      this.#sockets.delete(socket)
      endCount()
    })
  }
}
