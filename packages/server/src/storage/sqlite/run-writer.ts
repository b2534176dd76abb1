import { Worker } from "node:worker_threads"
import type { RunValues } from "../database/database.ts"
import { countRunBytes } from "../runs/record-runs.ts"
import type { ConnectLimits } from "./connection.ts"

/** When and how a scribe writes. */
export interface RunWriterLimits extends ConnectLimits {
  /**
   * So many runs at once are worth a thread. Once there is one, it writes all: the disk may keep
   * waiting whoever writes the last of them.
   */
  readonly scribeRunsMin: number
  /** So are fewer that are as large as this together. */
  readonly scribeBytesMin: number
}

/** What the thread is told when it starts. */
export interface RunWriterOptions extends ConnectLimits {
  readonly path: string
}

/**
 * What the thread says: it is ready; it has written all of a batch, or nothing of it; it has closed
 * the file.
 */
export type RunWriterReply = "ready" | "written" | "failed" | "closed"

/**
 * Writes runs down on a thread of its own, over a connection of its own: there are thousands in a second, and while SQLite puts them into
 * its pages and waits for the disk, nobody else would be answered. The first batch that is worth it starts the thread.
 *
 *   none ──▶ starting ──▶ ready ──▶ gone        gone for good: whoever has runs to write does it himself then
 */
export class SqliteRunWriter {
  readonly #orders: RunWriterOptions
  readonly #limits: RunWriterLimits
  #state: "none" | "starting" | "ready" | "gone" = "none"
  #thread: Worker | undefined
  #onAnswer: ((answer: RunWriterReply) => void) | undefined

  constructor(path: string, limits: RunWriterLimits) {
    this.#orders = { path, preparedMax: limits.preparedMax, openMsMax: limits.openMsMax }
    this.#limits = limits
  }

  /** Whether it has the file open. */
  get isThere(): boolean {
    return this.#state === "ready"
  }

  /** Whether to give it these. If not, it may be different a moment later. */
  canWrite(runs: readonly RunValues[]): boolean {
    const { scribeRunsMin, scribeBytesMin } = this.#limits
    if (
      this.#state === "none" &&
      (runs.length >= scribeRunsMin || countRunBytes(runs) >= scribeBytesMin)
    )
      this.#start()
    return this.#state === "ready"
  }

  /**
   * Resolves when all of them are durable, or false when none is: why, is seen by whoever does it
   * himself. One batch at a time.
   */
  async write(runs: readonly RunValues[]): Promise<boolean> {
    return this.#state === "ready" && (await this.#ask(JSON.stringify(runs))) === "written"
  }

  async stop(): Promise<void> {
    if (this.#state === "starting") await new Promise((resolve) => (this.#onAnswer = resolve))
    if (this.#state === "ready") await this.#ask("")
    this.#end()
    await this.#thread?.terminate()
  }

  #start(): void {
    this.#state = "starting"
    this.#thread = new Worker(new URL("./run-writer-thread.ts", import.meta.url), {
      workerData: this.#orders,
    })
    this.#thread.on("message", (answer: RunWriterReply) => this.#hear(answer))
    this.#thread.on("error", (error) => {
      process.emitWarning(
        `Runs are written without a thread of their own from now on: ${error.message}`,
      )
      this.#end()
    })
    this.#thread.on("exit", () => this.#end())
  }

  #ask(message: string): Promise<RunWriterReply> {
    return new Promise((resolve) => {
      this.#onAnswer = resolve
      this.#thread?.postMessage(message)
    })
  }

  #hear(answer: RunWriterReply): void {
    if (answer === "ready") this.#state = "ready"
    const onAnswer = this.#onAnswer
    this.#onAnswer = undefined
    onAnswer?.(answer)
  }

  #end(): void {
    this.#state = "gone"
    this.#hear("failed")
  }
}
