import {
  prepareWorkers,
  type WorkerLaunch,
  type WorkerOptions,
} from "../sandbox/launch/worker-launch.ts"
import type { CodeToolsLimits } from "./code-tools-limits.ts"
import type { ParseOutcome, ParseRequest } from "./parser-messages.ts"
import { ParserProcess, parserProgramPath } from "./parser-process.ts"
import { type WaitingWork, WorkQueue } from "./work-queue.ts"

/** There was no room left to wait, or it took too long until it was its turn. */
export interface Overloaded {
  readonly kind: "overloaded"
}

interface Job extends WaitingWork {
  readonly request: ParseRequest
  readonly settled: PromiseWithResolvers<ParseOutcome | Overloaded>
}

/**
 * Shares a few parser processes among everybody. They start when there is work, and end when there has been none for a while.
 *
 * ```
 *            run()            a process is free            answered          idleMsMax
 *   request ───────▶ waiting ───────────────────▶ busy ──────────────▶ idle ───────────▶ ended
 *                                                  │     took too much or crashed          ▲
 *                                                  └───────────────────────────────────────┘
 * ```
 * An owner has at most one process at a time, and those who wait take turns, owner by owner: code that takes all its time, and a thousand
 * pieces at once, delay nothing but what is of the same owner, as long as the others leave one process free.
 */
export class ParserPool {
  readonly #limits: CodeToolsLimits
  readonly #waiting: WorkQueue<Job>
  /**
   * A killed process stays here until it is gone, so that there are never more than `processesMax`.
   */
  readonly #busy = new Map<ParserProcess, Job>()
  readonly #idle = new Map<ParserProcess, Timer>()
  readonly #workers: Pick<WorkerOptions, "isolation" | "onWeak">
  /** How processes are started; known when the first of them is wanted. */
  #preparing: Promise<WorkerLaunch> | undefined
  #launch: WorkerLaunch | undefined
  #isStopped = false

  constructor(limits: CodeToolsLimits, workers: Pick<WorkerOptions, "isolation" | "onWeak">) {
    this.#limits = limits
    this.#workers = workers
    this.#waiting = new WorkQueue(limits, (job) => job.settled.resolve({ kind: "overloaded" }))
  }

  /** How many processes there are. */
  get size(): number {
    return this.#busy.size + this.#idle.size
  }

  async run(request: ParseRequest, owner?: string): Promise<ParseOutcome | Overloaded> {
    if (!this.#launch) await this.#prepare()
    if (this.#isStopped) throw stoppedError()
    const job: Job = {
      request,
      owner,
      chars: countChars(request),
      settled: Promise.withResolvers(),
    }
    if (!this.#waiting.add(job)) return { kind: "overloaded" }
    this.#startJobs()
    return job.settled.promise
  }

  /**
   * Ends every process. Whoever still waits for an answer gets an error, for "no imports" would be
   * a wrong one.
   */
  async stop(): Promise<void> {
    this.#isStopped = true
    for (const job of [...this.#waiting.clear(), ...this.#busy.values()])
      job.settled.reject(stoppedError())
    for (const timer of this.#idle.values()) clearTimeout(timer)
    const parsers = [...this.#idle.keys(), ...this.#busy.keys()]
    this.#idle.clear()
    await Promise.all(parsers.map((parser) => parser.stop()))
  }

  async #prepare(): Promise<void> {
    this.#preparing ??= prepareWorkers({ ...this.#workers, program: parserProgramPath })
    try {
      this.#launch = await this.#preparing
    } catch (error) {
      // The next request tries it again.
      this.#preparing = undefined
      throw error
    }
  }

  #startJobs(): void {
    while (this.#busy.size < this.#limits.processesMax && !this.#isStopped) {
      const job = this.#waiting.take((owner) => this.#mayStart(owner))
      if (!job) return
      const parser = this.#takeIdle() ?? this.#startParser()
      if (parser) void this.#work(parser, job)
      else job.settled.resolve({ kind: "crashed" })
    }
  }

  /** Undefined when the system has no process left to give. */
  #startParser(): ParserProcess | undefined {
    try {
      return this.#launch && new ParserProcess(this.#limits, this.#launch)
    } catch {
      return undefined
    }
  }

  #mayStart(owner: string | undefined): boolean {
    return owner === undefined || !this.#busy.values().some((running) => running.owner === owner)
  }

  async #work(parser: ParserProcess, job: Job): Promise<void> {
    this.#busy.set(parser, job)
    const outcome = await parser.run(job.request)
    // A process that was fine until now may have died of something else, so another gets to try;
    // who dies over its first work died of it.
    if (outcome.kind === "crashed" && parser.runs > 1 && !this.#isStopped)
      this.#waiting.addFirst(job)
    else job.settled.resolve(outcome)
    if (!parser.isUsable) await parser.stop()
    this.#busy.delete(parser)
    if (parser.isUsable && !this.#isStopped) this.#idle.set(parser, this.#endLater(parser))
    this.#startJobs()
  }

  /**
   * The one that worked last, so that the others get to end. One that has died meanwhile, of
   * whatever, is passed over.
   */
  #takeIdle(): ParserProcess | undefined {
    for (const [parser, timer] of [...this.#idle].reverse()) {
      clearTimeout(timer)
      this.#idle.delete(parser)
      if (parser.isUsable) return parser
    }
    return undefined
  }

  #endLater(parser: ParserProcess): Timer {
    const end = () => {
      this.#idle.delete(parser)
      void parser.stop()
    }
    return setTimeout(end, this.#limits.idleMsMax).unref()
  }
}

function countChars(request: ParseRequest): number {
  return request.task === "scan_many_imports"
    ? request.codes.reduce((sum, code) => sum + code.length, 0)
    : request.code.length
}

function stoppedError(): Error {
  return new Error("Cannot parse code: the code tools are stopped")
}
