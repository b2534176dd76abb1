import { type Transferable, Worker } from "node:worker_threads"
import { FairQueue } from "../fair-queue.ts"

/** How a pool of threads works. */
export interface WorkerPoolOptions {
  /** The module that each thread runs; it calls `serveJobs`. */
  readonly script: URL
  /** The `workerData` of each thread. */
  readonly workerData?: unknown
  readonly workersMax: number
  /** Jobs that may wait for a thread; one key may use a quarter. */
  readonly waitingMax: number
  /** The time limit of a job. Its thread is terminated then. */
  readonly jobMsMax: number
  /** How long an idle thread is kept. */
  readonly idleMsMax?: number
}

/** Why a job failed. */
export class WorkerPoolError extends Error {
  constructor(
    readonly reason: "overloaded" | "timed_out" | "failed",
    message: string,
  ) {
    super(message)
  }
}

/** The message of a thread when its job has ended. */
export type WorkerReply<Result> = { readonly result: Result } | { readonly error: string }

interface Waiting<Job, Result> {
  readonly job: Job
  readonly transfer: readonly Transferable[]
  resolve(result: Result): void
  reject(error: WorkerPoolError): void
}

const idleMsMaxDefault = 30_000

/**
 * Threads for work that would block the event loop. They are started on demand and end when idle.
 * Keys (users or IP addresses) take turns.
 */
export class WorkerPool<Job, Result> {
  readonly #options: WorkerPoolOptions
  readonly #queue: FairQueue<Waiting<Job, Result>>
  readonly #threads = new Set<PoolThread<Job, Result>>()
  #isStopped = false

  constructor(options: WorkerPoolOptions) {
    this.#options = options
    this.#queue = new FairQueue(options.waitingMax)
  }

  /** Rejects with a WorkerPoolError. */
  run(key: string, job: Job, transfer: readonly Transferable[] = []): Promise<Result> {
    return new Promise((resolve, reject) => {
      const waiting = { job, transfer, resolve, reject }
      if (this.#isStopped) reject(new WorkerPoolError("failed", "the pool is stopped"))
      else if (this.#queue.push(key, waiting)) this.#assign()
      else reject(new WorkerPoolError("overloaded", "too many jobs are waiting"))
    })
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    for (let next = this.#queue.shift(); next; next = this.#queue.shift())
      next.reject(new WorkerPoolError("failed", "the pool is stopped"))
    await Promise.all([...this.#threads].map((thread) => thread.end("failed")))
  }

  #assign(): void {
    while (this.#queue.size > 0) {
      const idle = [...this.#threads].find((thread) => thread.isIdle)
      if (!idle && this.#threads.size >= this.#options.workersMax) return
      const next = this.#queue.shift()
      if (next) (idle ?? this.#start()).begin(next)
    }
  }

  #start(): PoolThread<Job, Result> {
    const thread: PoolThread<Job, Result> = new PoolThread(
      this.#options,
      () => this.#assign(),
      () => {
        this.#threads.delete(thread)
        this.#assign()
      },
    )
    this.#threads.add(thread)
    return thread
  }
}

/**
 * One thread, one job at a time.
 *
 *   idle ◀──▶ busy ──▶ ending ──▶ gone
 *
 * A thread that is ending counts until it is gone, since a call into C code ends first.
 */
class PoolThread<Job, Result> {
  readonly #worker: Worker
  readonly #options: WorkerPoolOptions
  readonly #onIdle: () => void
  #current: Waiting<Job, Result> | undefined
  #timer: Timer | undefined
  #isEnding = false

  constructor(options: WorkerPoolOptions, onIdle: () => void, onGone: () => void) {
    this.#options = options
    this.#onIdle = onIdle
    this.#worker = new Worker(options.script, { workerData: options.workerData })
    this.#worker.unref()
    this.#worker.on("message", (reply: WorkerReply<Result>) => this.#settle(reply))
    this.#worker.on("error", (error) => this.#fail(new WorkerPoolError("failed", error.message)))
    this.#worker.on("exit", () => {
      this.#fail(new WorkerPoolError("failed", "the thread has ended"))
      onGone()
    })
  }

  get isIdle(): boolean {
    return this.#current === undefined && !this.#isEnding
  }

  begin(waiting: Waiting<Job, Result>): void {
    this.#current = waiting
    this.#arm(this.#options.jobMsMax, "timed_out")
    this.#worker.postMessage(waiting.job, [...waiting.transfer])
  }

  async end(reason: "timed_out" | "failed"): Promise<void> {
    this.#fail(
      new WorkerPoolError(
        reason,
        reason === "timed_out" ? "the job took too long" : "the pool is stopped",
      ),
    )
    await this.#worker.terminate()
  }

  #settle(reply: WorkerReply<Result>): void {
    const current = this.#current
    if (!current || this.#isEnding) return
    this.#current = undefined
    this.#arm(this.#options.idleMsMax ?? idleMsMaxDefault, "failed")
    if ("result" in reply) current.resolve(reply.result)
    else current.reject(new WorkerPoolError("failed", reply.error))
    this.#onIdle()
  }

  #arm(ms: number, reason: "timed_out" | "failed"): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.end(reason), ms)
    this.#timer.unref()
  }

  #fail(error: WorkerPoolError): void {
    this.#isEnding = true
    clearTimeout(this.#timer)
    const current = this.#current
    this.#current = undefined
    current?.reject(error)
  }
}
