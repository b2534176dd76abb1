import { rm, stat } from "node:fs/promises"
import { join } from "node:path"
import type { OwnerDatabases, SentSqlRequest, SqlOutcome } from "../../domain/owner-databases.ts"
import { isJsonText } from "../../domain/runs/json-text.ts"
import {
  prepareWorkers,
  type WorkerLaunch,
  type WorkerOptions,
} from "../sandbox/launch/worker-launch.ts"
import { toRequestFrame } from "./database-frames.ts"
import { type DatabaseLimits, databaseLimits } from "./database-limits.ts"
import { DatabaseProcess, databaseProgramPath, type ProcessStart } from "./database-process.ts"

/** Where the databases are, and what they and their statements may take. */
export interface DatabasePoolOptions {
  readonly folder: string
  readonly bytesMax: number
  readonly msMax: number
  /** Several machines see the folder. */
  readonly isShared: boolean
  readonly isolation: WorkerOptions["isolation"]
  readonly onWeak?: WorkerOptions["onWeak"]
  readonly limits?: Partial<DatabaseLimits>
}

interface Job {
  /** As it is going to be sent: of a known size, and no larger than it must be. */
  readonly frame: Uint8Array
  readonly settled: PromiseWithResolvers<SqlOutcome>
}

/** The folder cannot be made, or the system has no process left to give. */
type NotStarted = Extract<SqlOutcome, { kind: "unavailable" }>

/**
 * The databases of users: a file for each, and a few processes that have some of them open. Processes start when there is work, and end
 * when there has been none for a while.
 *
 * ```
 *            run()                  a process is free            answered                idleMsMax
 *   request ───────▶ owner's queue ───────────────────▶ running ──────────▶ idle again ───────────▶ ended
 *                     one at a time,                       │  took too much or ended         ▲
 *                     owners take turns                    └─────────────────────────────────┘
 * ```
 * A process has one request at a time, and an owner one process, so that a statement that takes all its time delays nobody but its owner
 * as long as one process is free, and a process that is killed takes nothing with it but what it was killed for.
 */
export class DatabasePool implements OwnerDatabases {
  readonly #options: DatabasePoolOptions
  readonly #limits: DatabaseLimits
  /** How processes are started; known when the first of them is wanted. */
  #preparing: Promise<WorkerLaunch> | undefined
  #start: ProcessStart | undefined
  /** Of those who have something waiting or running. */
  readonly #queues = new Map<string, Job[]>()
  /** Those who have something waiting and nothing running, who waited longest first. */
  readonly #turns: string[] = []
  readonly #busy = new Set<DatabaseProcess>()
  /** With the moment they became so, the last one last. */
  readonly #idle = new Map<DatabaseProcess, number>()
  #waiting = 0
  #waitingBytes = 0
  #sweep: Timer | undefined
  #isStopped = false

  constructor(options: DatabasePoolOptions) {
    this.#options = options
    this.#limits = { ...databaseLimits, ...options.limits }
  }

  /** The ids of the processes that there are. */
  get pids(): readonly number[] {
    return [...this.#busy, ...this.#idle.keys()].map(({ pid }) => pid)
  }

  async run(request: SentSqlRequest): Promise<SqlOutcome> {
    const { ownerId } = request
    // It becomes the name of a file.
    if (!idPattern.test(ownerId))
      throw new Error(`Cannot find the database of "${ownerId}": this is no id`)
    if (!this.#start) {
      const failure = await this.#prepare()
      if (failure) return failure
    }
    if (this.#isStopped) return stopped
    const queue = this.#queues.get(ownerId)
    if (this.#isFull(queue)) return { kind: "overloaded" }
    const job: Job = { frame: toRequestFrame(toJson(request)), settled: Promise.withResolvers() }
    if (queue) queue.push(job)
    else {
      this.#queues.set(ownerId, [job])
      this.#turns.push(ownerId)
    }
    this.#waiting += 1
    this.#waitingBytes += job.frame.length
    this.#startJobs()
    return job.settled.promise
  }

  async sizeOf(ownerId: string): Promise<number> {
    const path = join(this.#options.folder, `${ownerId}.db`)
    const sizes = await Promise.all(
      [path, `${path}-wal`].map(
        async (file) => (await stat(file).catch(() => undefined))?.size ?? 0,
      ),
    )
    return sizes.reduce((sum, size) => sum + size, 0)
  }

  async remove(ownerId: string): Promise<void> {
    if (!idPattern.test(ownerId))
      throw new Error(`Cannot delete the database of "${ownerId}": this is no id`)
    const path = join(this.#options.folder, `${ownerId}.db`)
    // A process may still have it open; what it writes goes with the file.
    await Promise.all(
      ["", "-wal", "-shm", "-journal"].map((end) => rm(`${path}${end}`, { force: true })),
    )
  }

  /** Lets what is running end, within limits, and refuses everything else. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearInterval(this.#sweep)
    for (const queue of this.#queues.values())
      for (const job of queue.splice(0)) job.settled.resolve(stopped)
    this.#turns.length = 0
    await Promise.all([...this.#busy, ...this.#idle.keys()].map((process) => process.stop()))
    this.#idle.clear()
  }

  async #prepare(): Promise<NotStarted | undefined> {
    const { folder, bytesMax, msMax, isShared, isolation, onWeak } = this.#options
    this.#preparing ??= prepareWorkers({ isolation, program: databaseProgramPath, folder, onWeak })
    try {
      const launch = await this.#preparing
      const { openMax } = this.#limits
      const serverPid = launch.isBoxed ? undefined : process.pid
      const settings = {
        folder: launch.folder ?? folder,
        bytesMax,
        isShared,
        busyMsMax: Math.floor(msMax / 2),
        openMax,
        serverPid,
      }
      this.#start ??= { launch, settings, msMax, limits: this.#limits }
      return undefined
    } catch (error) {
      // The next request tries it again.
      this.#preparing = undefined
      return toNotStarted(error)
    }
  }

  #isFull(queue: readonly Job[] = []): boolean {
    const { waitingMax, waitingPerOwnerMax, waitingBytesMax } = this.#limits
    return (
      this.#waiting >= waitingMax ||
      this.#waitingBytes >= waitingBytesMax ||
      queue.length >= waitingPerOwnerMax
    )
  }

  #startJobs(): void {
    while (!this.#isStopped) {
      const [ownerId = ""] = this.#turns
      const queue = this.#queues.get(ownerId)
      const process = queue && this.#takeProcess(ownerId)
      if (!process) return
      this.#turns.shift()
      void this.#work(process, ownerId, queue)
    }
  }

  async #work(process: DatabaseProcess | NotStarted, ownerId: string, queue: Job[]): Promise<void> {
    const job = queue.shift()
    this.#waiting -= 1
    this.#waitingBytes -= job?.frame.length ?? 0
    if (process instanceof DatabaseProcess) {
      this.#busy.add(process)
      if (job) job.settled.resolve(await process.run(ownerId, job.frame))
      // Until it is gone it may hold the database.
      if (!process.isUsable) await process.stop()
      this.#busy.delete(process)
      if (process.isUsable) this.#idle.set(process, performance.now())
    } else job?.settled.resolve(process)
    if (queue.length > 0) this.#turns.push(ownerId)
    else this.#queues.delete(ownerId)
    this.#startJobs()
  }

  /**
   * One that has the database open, or the one that worked last, so that the others get to end.
   * Undefined if all are busy.
   */
  #takeProcess(ownerId: string): DatabaseProcess | NotStarted | undefined {
    let found: DatabaseProcess | undefined
    for (const process of this.#idle.keys()) {
      // It has ended by itself, of whatever.
      if (!process.isUsable) this.#idle.delete(process)
      else if (!found?.hasOpen(ownerId)) found = process
    }
    if (found) this.#idle.delete(found)
    return found ?? (this.#busy.size < this.#limits.processesMax ? this.#startProcess() : undefined)
  }

  #startProcess(): DatabaseProcess | NotStarted {
    try {
      if (!this.#start) throw new Error("nothing is known of how to start it")
      this.#sweep ??= setInterval(() => this.#endIdle(), this.#limits.idleMsMax / 2).unref()
      return new DatabaseProcess(this.#start)
    } catch (error) {
      return toNotStarted(error)
    }
  }

  #endIdle(): void {
    for (const [process, since] of this.#idle) {
      if (performance.now() - since < this.#limits.idleMsMax) continue
      this.#idle.delete(process)
      // As long as it is not gone, it counts.
      this.#busy.add(process)
      void process.stop().then(() => {
        this.#busy.delete(process)
        this.#startJobs()
      })
    }
    if (this.#busy.size + this.#idle.size > 0) return
    clearInterval(this.#sweep)
    this.#sweep = undefined
  }
}

function toNotStarted(error: unknown): NotStarted {
  return { kind: "unavailable", message: error instanceof Error ? error.message : String(error) }
}

/** Ids are made by the server. */
const idPattern = /^[0-9a-f-]{36}$/

const stopped: SqlOutcome = { kind: "unavailable", message: "the server is about to end" }

/** Statements that came as JSON are put into the request as they are. */
function toJson({ statements, ...rest }: SentSqlRequest): string {
  if (!isJsonText(statements)) return JSON.stringify({ ...rest, statements })
  return `${JSON.stringify(rest).slice(0, -1)},"statements":${statements.json}}`
}
