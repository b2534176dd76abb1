import { Worker } from "node:worker_threads"
import { toOwnJson } from "@hamlet/kit"
import type { ThreadWrite } from "../database.ts"
import type { ConnectLimits } from "./connection.ts"

/** The data that the thread starts with. */
export interface ThreadWriterOptions extends ConnectLimits {
  readonly path: string
}

/**
 * Messages of the thread: it is ready; it has written everything, with the value and the notices of
 * the script, or nothing; it has closed the file.
 */
export type ThreadReply =
  | "ready"
  | { readonly value: unknown; readonly notices: readonly string[] }
  | "failed"
  | "closed"

/**
 * Writes on a thread of its own, over a connection of its own: while SQLite writes its pages and waits
 * for the disk, the main thread serves requests. The first write that is large enough starts the
 * thread.
 *
 *   none ──▶ starting ──▶ ready ──▶ gone        gone is final: the caller writes by itself
 */
export class SqliteThreadWriter {
  readonly #options: ThreadWriterOptions
  readonly #module: URL
  readonly #onNotice: (channel: string) => void
  #state: "none" | "starting" | "ready" | "gone" = "none"
  #thread: Worker | undefined
  #onReply: ((reply: ThreadReply) => void) | undefined

  constructor(module: URL, options: ThreadWriterOptions, onNotice: (channel: string) => void) {
    const { path, preparedMax, openMsMax } = options
    this.#module = module
    this.#options = { path, preparedMax, openMsMax }
    this.#onNotice = onNotice
  }

  /** Whether the thread has the file open. */
  get isReady(): boolean {
    return this.#state === "ready"
  }

  /** Whether the thread can write now. A large write starts the thread for later ones. */
  canWrite({ isLarge }: Pick<ThreadWrite, "isLarge">): boolean {
    if (this.#state === "none" && isLarge) this.#start()
    return this.#state === "ready"
  }

  /**
   * Resolves to the value of the script when all of it is durable, and to "failed" when nothing is.
   * The caller then does it itself and gets the error. One write at a time.
   */
  async write(input: object): Promise<{ readonly value: unknown } | "failed"> {
    if (this.#state !== "ready") return "failed"
    const reply = await this.#send(toOwnJson(input))
    if (typeof reply !== "object") return "failed"
    for (const channel of reply.notices) this.#onNotice(channel)
    return reply
  }

  async stop(): Promise<void> {
    if (this.#state === "starting") await new Promise((resolve) => (this.#onReply = resolve))
    if (this.#state === "ready") await this.#send("")
    this.#end()
    await this.#thread?.terminate()
  }

  #start(): void {
    this.#state = "starting"
    this.#thread = new Worker(this.#module, { workerData: this.#options })
    this.#thread.on("message", (reply: ThreadReply) => this.#receive(reply))
    this.#thread.on("error", (error: Error) => {
      process.emitWarning(
        `A thread that writes to the database has failed; the main thread does its work from now on: ${error.message}`,
      )
      this.#end()
    })
    this.#thread.on("exit", () => this.#end())
  }

  #send(message: string): Promise<ThreadReply> {
    return new Promise((resolve) => {
      this.#onReply = resolve
      this.#thread?.postMessage(message)
    })
  }

  #receive(reply: ThreadReply): void {
    if (reply === "ready") this.#state = "ready"
    const onReply = this.#onReply
    this.#onReply = undefined
    onReply?.(reply)
  }

  #end(): void {
    this.#state = "gone"
    this.#receive("failed")
  }
}
