import { FairQueue, prepareOnce, toOwnJson, type Waiter } from "@hamlet/kit"
import { toMessage } from "./frames.ts"
import type { WorkerLimits } from "./worker-limits.ts"
import {
  type WorkerFailure,
  WorkerProcess,
  type WorkerRequest,
  type WorkerResponse,
} from "./worker-process.ts"
import { prepareWorkers, type WorkerLauncher, type WorkerOptions } from "./worker-profile.ts"

/** What the processes of a pool run, and how. */
export interface WorkerProcessPoolOptions extends WorkerOptions {
  readonly limits: WorkerLimits
  /** The settings of a process. `folder` is the path of the folder as the process sees it. */
  toSettings?(folder: string | undefined): object
  /** Whether running a request twice does no harm. */
  readonly isRepeatable: boolean
}

/** How a request ended. `overloaded`: it could not wait, or not for long enough. */
export type WorkerOutcome =
  | WorkerResponse
  | WorkerFailure
  | { readonly kind: "overloaded" }
  | { readonly kind: "stopped" }

type Job = Waiter<WorkerRequest, WorkerOutcome>

/** The owner of requests that belong to no user. They may use all processes. */
export const noOwner = ""

/**
 * Worker processes that the requests of all owners share. A process starts when there is work, and
 * ends when it has been idle for a while.
 *
 * ```
 *            run()           a process is free         it responds            idleMsMax
 *   request ──────▶ waiting ──────────────────▶ busy ──────────────▶ idle ─────────────▶ ended
 *                                                │  a limit is exceeded, or it crashes     ▲
 *                                                └─────────────────────────────────────────┘
 * ```
 * An owner has at most one process at a time, and owners take turns. A request that takes all its
 * time, or a thousand requests at once, delay only requests of the same owner as long as one
 * process is free.
 */
export class WorkerProcessPool {
  readonly #options: WorkerProcessPoolOptions
  readonly #limits: WorkerLimits
  readonly #queue: FairQueue<WorkerRequest, WorkerOutcome>
  /**
   * With the owner whose request each runs. A process that ends stays here until it is gone, so
   * that there are never more than `processesMax`.
   */
  readonly #busy = new Map<WorkerProcess, string | undefined>()
  /** With the time at which each became idle, the last one last. */
  readonly #idle = new Map<WorkerProcess, number>()
  readonly #prepare: () => Promise<WorkerLauncher>
  /** Set once the first request has found out how processes start on this machine. */
  #launcher: WorkerLauncher | undefined
  #sweepTimer: Timer | undefined
  #isStopped = false

  constructor(options: WorkerProcessPoolOptions) {
    this.#options = options
    this.#limits = options.limits
    this.#prepare = prepareOnce(() => prepareWorkers(options))
    this.#queue = new FairQueue(options.limits, ({ resolve }) => resolve({ kind: "overloaded" }))
  }

  get size(): number {
    return this.#busy.size + this.#idle.size
  }

  get pids(): readonly number[] {
    return [...this.#busy.keys(), ...this.#idle.keys()].map(({ pid }) => pid)
  }

  /**
   * Sends a request, JSON with bytes that belong to it. Rejects when processes cannot be started on
   * this machine.
   */
  async run(owner: string, head: string, bytes?: readonly Uint8Array[]): Promise<WorkerOutcome> {
    this.#launcher ??= await this.#prepare()
    if (this.#isStopped) return { kind: "stopped" }
    const frame = toMessage(head, bytes)
    const size = frame.reduce((sum, part) => sum + part.length, 0)
    const job = this.#queue.add(owner, frame, { bytes: size })
    if (!job) return { kind: "overloaded" }
    this.#startJobs()
    return await job.promise
  }

  /** Ends every process. Requests that wait end with `stopped`, those that run as they can. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearInterval(this.#sweepTimer)
    for (const { resolve } of this.#queue.clear()) resolve({ kind: "stopped" })
    const processes = [...this.#busy.keys(), ...this.#idle.keys()]
    await Promise.all(processes.map((process) => process.stop()))
    this.#idle.clear()
  }

  #startJobs(): void {
    while (this.#busy.size < this.#limits.processesMax && !this.#isStopped) {
      const job = this.#queue.next((owner) => this.#mayStart(owner))
      if (!job) {
        this.#sendAhead()
        return
      }
      const process = this.#takeProcess(job.key)
      if (process instanceof WorkerProcess) void this.#work(process, job)
      else job.resolve(process)
    }
  }

  /** All requests that wait are of owners that have a process. */
  #sendAhead(): void {
    if (!this.#limits.sendsAhead) return
    for (const [process, busyWith] of this.#busy) {
      if (busyWith === undefined || busyWith === noOwner || !process.canQueue) continue
      const job = this.#queue.next((owner) => owner === busyWith)
      if (job) void this.#work(process, job)
    }
  }

  #mayStart(owner: string): boolean {
    return owner === noOwner || !this.#busy.values().some((running) => running === owner)
  }

  async #work(process: WorkerProcess, job: Job): Promise<void> {
    this.#busy.set(process, job.key)
    const outcome = await process.run(job.key, job.about)
    if (this.#canRetry(process, outcome)) this.#queue.putBack(job)
    else job.resolve(outcome)
    if (process.isAtWork) return this.#startJobs()
    // The owner's next request waits until it is gone: it may still hold a lock.
    if (!process.isUsable) await process.stop()
    this.#busy.delete(process)
    if (process.isUsable) this.#idle.set(process, performance.now())
    this.#startJobs()
  }

  #canRetry(process: WorkerProcess, outcome: WorkerResponse | WorkerFailure): boolean {
    if (outcome.kind === "responded" || this.#isStopped) return false
    if (outcome.isAhead) return true
    // A process that has worked before may have died of something else. A process that dies of its
    // first request died of it.
    return outcome.kind === "crashed" && this.#options.isRepeatable && process.requests > 1
  }

  /**
   * An idle process that has the owner's state in memory; else the one that worked last, so that
   * the others stay idle and end; else a new one.
   */
  #takeProcess(owner: string): WorkerProcess | WorkerFailure {
    let found: WorkerProcess | undefined
    for (const process of this.#idle.keys()) {
      // The process has ended by itself.
      if (!process.isUsable) this.#idle.delete(process)
      else if (!found?.hasCached(owner)) found = process
    }
    if (!found) return this.#startProcess()
    this.#idle.delete(found)
    return found
  }

  #startProcess(): WorkerProcess | WorkerFailure {
    try {
      if (!this.#launcher) throw new Error("workers are not prepared")
      const settings = toOwnJson(this.#options.toSettings?.(this.#launcher.folder) ?? {})
      this.#sweepTimer ??= setInterval(() => this.#endIdle(), this.#limits.idleMsMax / 2).unref()
      const process = this.#launcher.start([settings], this.#limits.lifeSecondsMax)
      return new WorkerProcess(process, this.#limits)
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      return { kind: "crashed", isStarted: false, message }
    }
  }

  #endIdle(): void {
    for (const [process, sinceMs] of this.#idle) {
      if (performance.now() - sinceMs < this.#limits.idleMsMax) continue
      this.#idle.delete(process)
      this.#busy.set(process, undefined)
      void process.stop().then(() => {
        this.#busy.delete(process)
        this.#startJobs()
      })
    }
    if (this.size > 0) return
    clearInterval(this.#sweepTimer)
    this.#sweepTimer = undefined
  }
}
