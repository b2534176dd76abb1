import { chmodSync, chownSync, lstatSync, rmSync, type Stats } from "node:fs"
import { dirname } from "node:path"
import { TokenBucket } from "@hamlet/kit"
import type { EgressLimits } from "./egress-limits.ts"

/**
 * A Unix socket at which a sandbox may open only so many connections per second. Beyond that it is
 * closed until the next sweep, and the sandbox has to wait: Bun accepts connections as long as there
 * are more, so a program that opens them in a loop would block the event loop. Closing the socket ends
 * that loop; refusing each connection would not.
 */
export class PacedListener<Data> {
  readonly #path: string
  readonly #handlers: Bun.SocketHandler<Data, "buffer">
  readonly #accept: (socket: Bun.Socket<Data>) => void
  readonly #opens: TokenBucket
  #listener: Bun.UnixSocketListener<Data> | undefined
  /** The owner and the mode of the socket file while it is closed. */
  #file: Stats | undefined

  constructor(
    path: string,
    limits: Pick<EgressLimits, "opensMax" | "opensMs">,
    handlers: Bun.SocketHandler<Data, "buffer">,
    accept: (socket: Bun.Socket<Data>) => void,
  ) {
    this.#path = path
    this.#handlers = handlers
    this.#accept = accept
    this.#opens = new TokenBucket(limits.opensMax, limits.opensMs, performance.now())
    this.#listener = this.#listen()
  }

  /** Whether connections can be opened now. */
  get isOpen(): boolean {
    return this.#listener !== undefined
  }

  /** Opens the socket again once it may. */
  sweep(nowMs: number): void {
    if (!this.#file) return
    this.#opens.refill(nowMs)
    if (!this.#opens.hasToken) return
    try {
      this.#reopen(this.#file)
    } catch {
      // The folder is being removed, or the server has no free file. The next sweep tries again.
    }
  }

  /** Accepts no more connections. This removes the socket file, too. */
  stop(): void {
    this.#file = undefined
    this.#listener?.stop(true)
    this.#listener = undefined
  }

  #listen(): Bun.UnixSocketListener<Data> {
    return Bun.listen<Data>({
      unix: this.#path,
      allowHalfOpen: this.#handlers.end !== undefined,
      socket: { ...this.#handlers, open: (socket) => this.#opened(socket) },
    })
  }

  #opened(socket: Bun.Socket<Data>): void {
    this.#opens.refill(performance.now())
    this.#opens.charge(1)
    if (!this.#opens.hasToken) this.#close()
    this.#accept(socket)
  }

  /** Connections that are open stay open. */
  #close(): void {
    if (!this.#listener) return
    this.#file = lstatSync(this.#path, { throwIfNoEntry: false })
    this.#listener.stop(false)
    this.#listener = undefined
  }

  /** The sandbox must be able to use the new file, and its folder is read-only. */
  #reopen({ uid, gid, mode }: Stats): void {
    const folder = dirname(this.#path)
    const folderMode = lstatSync(folder).mode
    chmodSync(folder, folderMode | 0o200)
    try {
      // An ordinary user could not remove it from the folder as it was.
      rmSync(this.#path, { force: true })
      this.#listener = this.#listen()
      chownSync(this.#path, uid, gid)
      chmodSync(this.#path, mode)
      this.#file = undefined
    } finally {
      chmodSync(folder, folderMode)
    }
  }
}
