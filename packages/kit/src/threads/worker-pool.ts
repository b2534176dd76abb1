import { type Transferable, Worker } from "node:worker_threads"
import { FairQueue, type Waiter } from "../turns/fair-queue.ts"

/** How a pool of threads works. */
export interface WorkerPoolOptions {
  /** The module that each thread runs; it calls `serveJobs`. */
  readonly script: URL
  /** The `workerData` of each thread. */
  readonly workerData?: unknown
  readonly workersMax: number
  /** Jobs that may wait for a thread; one key may use a quarter. */
  readonly waitingMax: number
  /** The time limit of a job. Its thread is terminated then, with the other jobs that it has. */
  readonly jobMsMax: number
  /**
   * Jobs that a thread has at the same time; 1 by default. For jobs that wait, such as for a name
   * server: those of other senders go on meanwhile.
   */
  readonly jobsPerWorkerMax?: number
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

/** A job as a thread gets it. */
export interface WorkerJob<Job> {
  readonly number: number
  readonly job: Job
}

/** The message of a thread when a job has ended. */
export type WorkerReply<Result> = { readonly number: number } & (
  | { readonly result: Result }
  | { readonly error: string }
)

interface JobMessage<Job> {
  readonly job: Job
  readonly transfer: readonly Transferable[]
}

const idleMsMaxDefault = 30_000

/**
 * Threads for work that would block the event loop. They are started on demand and end when idle.
 * Keys (users or IP addresses) take turns.
 */
export class WorkerPool<Job, Result> {
  readonly #options: WorkerPoolOptions
  readonly #queue: FairQueue<JobMessage<Job>, Result>
  readonly #threads = new Set<PoolThread<Job, Result>>()
  #isStopped = false

  constructor(options: WorkerPoolOptions) {
    this.#options = options
    this.#queue = new FairQueue({ waitingMax: options.waitingMax })
  }

  /** Rejects with a WorkerPoolError. */
  async run(key: string, job: Job, transfer: readonly Transferable[] = []): Promise<Result> {
    if (this.#isStopped) throw new WorkerPoolError("failed", "the pool is stopped")
    const waiting = this.#queue.add(key, { job, transfer })
    if (!waiting) throw new WorkerPoolError("overloaded", "too many jobs are waiting")
    this.#assign()
    return await waiting.promise
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    for (const { reject } of this.#queue.clear())
      reject(new WorkerPoolError("failed", "the pool is stopped"))
    await Promise.all([...this.#threads].map((thread) => thread.end()))
  }

  #assign(): void {
    while (this.#queue.size > 0) {
      const thread = this.#findThread()
      if (!thread) return
      const next = this.#queue.next()
      if (next) thread.begin(next)
    }
  }

  /** An idle thread, else a new one, else the one with the fewest jobs that can take another. */
  #findThread(): PoolThread<Job, Result> | undefined {
    const { workersMax, jobsPerWorkerMax = 1 } = this.#options
    const open = [...this.#threads]
      .filter((thread) => !thread.isEnding && thread.jobs < jobsPerWorkerMax)
      .sort((one, other) => one.jobs - other.jobs)
    if (open[0]?.jobs === 0 || this.#threads.size >= workersMax) return open[0]
    return this.#start()
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
 * One thread with its jobs.
 *
 *   idle ◀──▶ busy ──▶ ending ──▶ gone
 *
 * A thread that is ending counts until it is gone, since a call into C code ends first.
 */
class PoolThread<Job, Result> {
  readonly #worker: Worker
  readonly #options: WorkerPoolOptions
  readonly #onIdle: () => void
  readonly #jobs = new Map<number, CurrentJob<Job, Result>>()
  #number = 0
  #idleTimer: Timer | undefined
  #isEnding = false

  constructor(options: WorkerPoolOptions, onIdle: () => void, onGone: () => void) {
    this.#options = options
    this.#onIdle = onIdle
    this.#worker = new Worker(options.script, { workerData: options.workerData })
    this.#worker.unref()
    this.#worker.on("message", (reply: WorkerReply<Result>) => this.#settle(reply))
    this.#worker.on("error", (error: Error) =>
      this.#fail(new WorkerPoolError("failed", error.message)),
    )
    this.#worker.on("exit", () => {
      this.#fail(new WorkerPoolError("failed", "the thread has ended"))
      onGone()
    })
  }

  get jobs(): number {
    return this.#jobs.size
  }

  get isEnding(): boolean {
    return this.#isEnding
  }

  begin(waiting: Waiter<JobMessage<Job>, Result>): void {
    clearTimeout(this.#idleTimer)
    const number = ++this.#number
    const timer = setTimeout(() => void this.#endOverdue(number), this.#options.jobMsMax)
    timer.unref()
    for (const other of this.#jobs.values()) other.isAlone = false
    this.#jobs.set(number, { waiting, timer, isAlone: this.#jobs.size === 0 })
    const { job, transfer } = waiting.about
    this.#worker.postMessage({ number, job } satisfies WorkerJob<Job>, [...transfer])
  }

  async end(): Promise<void> {
    this.#fail(new WorkerPoolError("failed", "the pool is stopped"))
    await this.#worker.terminate()
  }

  /**
   * Only a job that was alone all the time is known to have taken too long: another one may have
   * waited for its neighbours.
   */
  async #endOverdue(number: number): Promise<void> {
    const overdue = this.#jobs.get(number)
    if (overdue?.isAlone) this.#fail(new WorkerPoolError("timed_out", "the job took too long"))
    else this.#fail(new WorkerPoolError("overloaded", "a job of the thread took too long"))
    await this.#worker.terminate()
  }

  #settle(reply: WorkerReply<Result>): void {
    const current = this.#jobs.get(reply.number)
    if (!current || this.#isEnding) return
    clearTimeout(current.timer)
    this.#jobs.delete(reply.number)
    if (this.#jobs.size === 0) {
      this.#idleTimer = setTimeout(
        () => void this.end(),
        this.#options.idleMsMax ?? idleMsMaxDefault,
      )
      this.#idleTimer.unref()
    }
    if ("result" in reply) current.waiting.resolve(reply.result)
    else current.waiting.reject(new WorkerPoolError("failed", reply.error))
    this.#onIdle()
  }

  #fail(error: WorkerPoolError): void {
    this.#isEnding = true
    clearTimeout(this.#idleTimer)
    for (const { waiting, timer } of this.#jobs.values()) {
      clearTimeout(timer)
      waiting.reject(error)
    }
    this.#jobs.clear()
  }
}

interface CurrentJob<Job, Result> {
  readonly waiting: Waiter<JobMessage<Job>, Result>
  readonly timer: Timer
  /** Whether the thread has had no other job since this one began. */
  isAlone: boolean
}
