import { Worker } from "node:worker_threads"
import { toOwnJson } from "@hamlet/kit"
import type { RunValues, RunWrite } from "../database/database.ts"
import { countRunBytes } from "../runs/record-runs.ts"
import { type ConnectLimits, connectLimits } from "./connection.ts"

/** When the thread is started, and how it connects. */
export const runWriterLimits = {
  ...connectLimits,
  /**
   * A batch of this many runs starts the thread. From then on the thread writes every batch,
   * because waiting for the disk blocks the thread that writes.
   */
  threadRunsMin: 16,
  /** A batch of this many bytes starts the thread too. */
  threadBytesMin: 262_144,
}

export type RunWriterLimits = Readonly<typeof runWriterLimits>

/** The data that the thread starts with. */
export interface RunWriterOptions extends ConnectLimits {
  readonly path: string
}

/**
 * Messages of the thread: it is ready; it has written everything, with the value and the notices of
 * the script, or nothing; it has closed the file.
 */
export type RunWriterReply =
  | "ready"
  | { readonly value: boolean; readonly notices: readonly string[] }
  | "failed"
  | "closed"

/**
 * Writes and deletes runs on a thread of its own, over a connection of its own: there are thousands
 * per second, and while SQLite writes its pages and waits for the disk, the main thread could serve
 * no request. The first batch of runs that is large enough starts the thread.
 *
 *   none ──▶ starting ──▶ ready ──▶ gone        gone is final: the caller writes its runs itself
 */
export class SqliteRunWriter {
  readonly #options: RunWriterOptions
  readonly #limits: RunWriterLimits
  readonly #onNotice: (channel: string) => void
  #state: "none" | "starting" | "ready" | "gone" = "none"
  #thread: Worker | undefined
  #onReply: ((reply: RunWriterReply) => void) | undefined

  constructor(path: string, limits: RunWriterLimits, onNotice: (channel: string) => void) {
    this.#options = { path, preparedMax: limits.preparedMax, openMsMax: limits.openMsMax }
    this.#limits = limits
    this.#onNotice = onNotice
  }

  /** Whether the thread has the file open. */
  get isReady(): boolean {
    return this.#state === "ready"
  }

  /** Whether the thread can write this now. Runs to record may start the thread for later writes. */
  canWrite(write: RunWrite): boolean {
    if (this.#state === "none" && write.kind === "record" && this.#isLarge(write.runs))
      this.#start()
    return this.#state === "ready"
  }

  /**
   * Resolves to the value of the script when all of it is durable, and to "failed" when nothing is.
   * The caller then does it itself and gets the error. One write at a time.
   */
  async write(write: RunWrite): Promise<{ readonly value: boolean } | "failed"> {
    if (this.#state !== "ready") return "failed"
    const reply = await this.#send(toOwnJson(write))
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

  #isLarge(runs: readonly RunValues[]): boolean {
    const { threadRunsMin, threadBytesMin } = this.#limits
    return runs.length >= threadRunsMin || countRunBytes(runs) >= threadBytesMin
  }

  #start(): void {
    this.#state = "starting"
    this.#thread = new Worker(new URL("./run-writer-thread.ts", import.meta.url), {
      workerData: this.#options,
    })
    this.#thread.on("message", (reply: RunWriterReply) => this.#receive(reply))
    this.#thread.on("error", (error: Error) => {
      process.emitWarning(
        `The thread that writes runs has failed; the main thread writes them from now on: ${error.message}`,
      )
      this.#end()
    })
    this.#thread.on("exit", () => this.#end())
  }

  #send(message: string): Promise<RunWriterReply> {
    return new Promise((resolve) => {
      this.#onReply = resolve
      this.#thread?.postMessage(message)
    })
  }

  #receive(reply: RunWriterReply): void {
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
