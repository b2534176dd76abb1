import { createTimeSlice, currentWork, detachWork, FairQueue, type Waiter } from "@hamlet/kit"
import type { Script } from "../database.ts"
import { tooManyWaiting, unavailable } from "../errors.ts"
import { type RunStatement, runScripts } from "../run-scripts.ts"
import type { SqliteConnection } from "./connection.ts"
import { fromSqliteError, isBusy, isConstraint } from "./errors.ts"

export const writerLimits = {
  /** Scripts that share a transaction. */
  groupMax: 256,
  /** How long a transaction takes in more scripts: they run on the main thread. */
  groupMsMax: 8,
  /** Scripts that wait, of all owners and of one. */
  waitingMax: 10_000,
  ownerWaitingMax: 1_000,
  /** How long a script waits while another process writes. */
  lockMsMax: 5_000,
  /** How long a patient script waits while another process writes. */
  patientMsMax: 3_600_000,
  /** How long to wait before the next attempt while another process writes. */
  lockRetryMs: 5,
}

export type SqliteWriterLimits = Readonly<typeof writerLimits>

export interface SqliteWriterHooks {
  /**
   * Throws when writes would be lost. Called before each transaction, and again before its commit is
   * acknowledged.
   */
  assertWritable(): void
  /** Called before a commit is acknowledged. */
  onCommit(): void
  /** Called after the commit, for each channel that a statement names. */
  onNotice(channel: string): void
}

/** Resolves to what the script would return, or to "failed" when nothing was done. */
export type Delegate = () => Promise<{ readonly value: unknown } | "failed">

/** A script that waits. */
interface Task {
  readonly script: () => Script<unknown>
  readonly deadline: number
  /** Does the work of the script by other means. */
  readonly delegate: Delegate | undefined
}

type Job = Waiter<Task, unknown>

/**
 * Group commit: the scripts that wait share a transaction, and so one wait for the disk, which is most
 * of the cost of a write. Owners take turns, and a transaction that has taken a while takes in no more
 * scripts. A long script pauses between its statements: reads and other work go on, and other writes
 * wait. The last steps run at the end. Each promise settles only when the commit is durable. When one
 * script fails, all run again, each in a savepoint of its own with its last steps, so that it fails
 * alone.
 */
export class SqliteWriter {
  readonly #connection: SqliteConnection
  readonly #limits: SqliteWriterLimits
  readonly #hooks: SqliteWriterHooks
  readonly #queue: FairQueue<Task, unknown>
  /** Jobs whose transaction has failed. They come before those of the queue. */
  #again: Job[] = []
  /** How many of the jobs in `#again` get a transaction each, because one of them made theirs fail. */
  #alone = 0
  /** Whether a transaction goes on, or is about to. */
  #isScheduled = false
  /** Whether another process was writing. */
  #isLocked = false
  /** The channels that the statements of the open transaction name. */
  readonly #notices = new Set<string>()
  #onIdle: (() => void) | undefined

  constructor(connection: SqliteConnection, limits: SqliteWriterLimits, hooks: SqliteWriterHooks) {
    this.#connection = connection
    this.#limits = limits
    this.#hooks = hooks
    const { waitingMax, ownerWaitingMax } = limits
    this.#queue = new FairQueue({
      waitingMax,
      waitingPerKeyMax: (owner) => (owner === ofServer ? waitingMax : ownerWaitingMax),
    })
  }

  get waiting(): number {
    return this.#queue.size + this.#again.length
  }

  /** Calls `delegate`, if there is one, to do the work of the script, and runs it if that fails. */
  write<T>(script: () => Script<T>, isPatient: boolean, delegate?: Delegate): Promise<T> {
    if (this.#onIdle !== undefined) return Promise.reject(unavailable("it is closed"))
    const { patientMsMax, lockMsMax, waitingMax } = this.#limits
    const deadline = performance.now() + (isPatient ? patientMsMax : lockMsMax)
    const owner = currentWork()?.owner ?? ofServer
    const job = this.#queue.add(owner, { script, deadline, delegate })
    if (!job)
      return Promise.reject(
        this.#queue.size >= waitingMax
          ? unavailable("too many writes are waiting")
          : tooManyWaiting(),
      )
    this.#schedule()
    return job.promise as Promise<T>
  }

  /** Resolves when the queue is empty. */
  stop(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle = resolve
      this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    // The transaction serves more than the request that comes first.
    detachWork(() => setImmediate(() => void this.#flush()))
  }

  async #flush(): Promise<void> {
    const job = this.#canWrite() ? this.#take() : undefined
    if (job?.about.delegate) await this.#delegate(job, job.about.delegate)
    else if (job && this.#begin(job)) await this.#write(job)
    this.#isScheduled = false
    if (this.#isLocked) this.#scheduleRetry()
    else if (this.waiting > 0) this.#schedule()
    else this.#onIdle?.()
  }

  #scheduleRetry(): void {
    this.#isLocked = false
    this.#isScheduled = true
    setTimeout(() => void this.#flush(), this.#limits.lockRetryMs)
  }

  /** If false, all waiting jobs are rejected with the reason. */
  #canWrite(): boolean {
    try {
      this.#hooks.assertWritable()
      return true
    } catch (error) {
      for (const job of [...this.#again.splice(0), ...this.#queue.clear()]) job.reject(error)
      return false
    }
  }

  #take(): Job | undefined {
    return this.#again.shift() ?? this.#queue.next()
  }

  /** The jobs that a transaction takes in, besides one. */
  #takeGroup(): readonly Job[] {
    const group: Job[] = []
    while (group.length < this.#limits.groupMax - 1) {
      const job = this.#take()
      if (!job) break
      group.push(job)
    }
    return group
  }

  /** The next one for the open transaction. */
  #takeMore(group: readonly Job[], sinceMs: number): Job | undefined {
    const { groupMax, groupMsMax } = this.#limits
    if (group.length >= groupMax || performance.now() - sinceMs >= groupMsMax) return undefined
    const job = this.#take()
    if (!job?.about.delegate) return job
    this.#again.unshift(job)
    return undefined
  }

  /**
   * The writer pauses until the other connection is done: otherwise the two would wait for each
   * other's lock inside SQLite.
   */
  async #delegate(job: Job, delegate: Delegate): Promise<void> {
    const result = await delegate().catch(() => "failed" as const)
    if (result === "failed")
      this.#again.unshift({ ...job, about: { ...job.about, delegate: undefined } })
    else this.#settleDelegated(job, result.value)
  }

  #settleDelegated(job: Job, value: unknown): void {
    try {
      this.#hooks.onCommit()
      // A commit may have gone to a file that is lost, as with a commit of this connection.
      this.#hooks.assertWritable()
      job.resolve(value)
    } catch (error) {
      job.reject(error)
    }
  }

  #begin(job: Job): boolean {
    try {
      this.#rollBack()
      this.#notices.clear()
      this.#connection.command("begin immediate")
      return true
    } catch (error) {
      if (isBusy(error)) this.#tryLater([job, ...this.#takeGroup()], error)
      else job.reject(fromSqliteError(error))
      return false
    }
  }

  // Waiting inside SQLite would block the whole server, reads included, until the other process is
  // done.
  #tryLater(group: readonly Job[], error: unknown): void {
    const now = performance.now()
    const isLate = ({ about }: Job) => about.deadline <= now
    for (const job of group.filter(isLate)) job.reject(fromSqliteError(error))
    this.#again.unshift(...group.filter((job) => !isLate(job)))
    this.#isLocked = true
  }

  /** Writes the job, with others that join its transaction. */
  async #write(job: Job): Promise<void> {
    const group = [job]
    try {
      const settlements = (await this.#runTogether(group)) ?? (await this.#runEach(group))
      this.#connection.command("commit")
      this.#hooks.onCommit()
      // If the file has disappeared meanwhile, the commit went to a file that is lost.
      this.#hooks.assertWritable()
      for (const settle of settlements) settle()
      for (const channel of this.#notices) this.#hooks.onNotice(channel)
    } catch (error) {
      this.#rollBackQuietly()
      if (isBusy(error)) this.#tryLater(group, error)
      else if (group.length > 1 && (error instanceof TransactionLost || isConstraint(error)))
        this.#repeatAlone(group)
      else
        for (const job of group)
          job.reject(fromSqliteError(error instanceof TransactionLost ? error.cause : error))
    }
  }

  /**
   * Runs the scripts without savepoints: FTS5 flushes its index at each savepoint, which costs more
   * than the rest of a small write. Undefined when one of several has failed: all are rolled back then,
   * and a new transaction has begun.
   */
  async #runTogether(group: Job[]): Promise<readonly (() => void)[] | undefined> {
    const { runScript, runLast } = runScripts(this.#toPacedRun(), this.#notices)
    const mayTakeMore = this.#alone === 0
    this.#alone = Math.max(0, this.#alone - 1)
    const sinceMs = performance.now()
    const settlements: (() => void)[] = []
    try {
      for (let job = group[0]; job; ) {
        const { about, resolve } = job
        const value = await runScript(about.script())
        if (!this.#connection.isInTransaction) throw new TransactionLost(undefined)
        settlements.push(() => resolve(value))
        job = mayTakeMore ? this.#takeMore(group, sinceMs) : undefined
        if (job) group.push(job)
      }
      await runLast()
      return settlements
    } catch (error) {
      this.#rollBack()
      this.#connection.command("begin immediate")
      // Alone, it would only fail again.
      if (group.length > 1 || error instanceof TransactionLost) return undefined
      return group.map((job) => () => job.reject(fromSqliteError(error)))
    }
  }

  async #runEach(group: readonly Job[]): Promise<readonly (() => void)[]> {
    const settlements: (() => void)[] = []
    const run = this.#toPacedRun()
    for (const job of group) settlements.push(await this.#run(job, run))
    return settlements
  }

  /** Runs the script in a savepoint and returns what to do with its promise after the commit. */
  async #run(job: Job, run: RunStatement): Promise<() => void> {
    const { runScript, runLast } = runScripts(run, this.#notices)
    this.#connection.command("savepoint script")
    try {
      const value = await runScript(job.about.script())
      await runLast()
      this.#connection.command("release script")
      return () => job.resolve(value)
    } catch (error) {
      // After some errors, such as a full disk, SQLite rolls back the whole transaction, the work of
      // the other scripts included.
      if (!this.#connection.isInTransaction) throw new TransactionLost(error)
      this.#connection.command("rollback to script")
      this.#connection.command("release script")
      return () => job.reject(fromSqliteError(error))
    }
  }

  /** Pauses only after a while: a short transaction does not wait for other work on this thread. */
  #toPacedRun(): RunStatement {
    const pace = createTimeSlice({ isFirst: true })
    const sinceMs = performance.now()
    return (statement) => {
      const found = this.#connection.run(statement)
      const pause = performance.now() - sinceMs < this.#limits.groupMsMax ? undefined : pace()
      return pause === undefined ? found : pause.then(() => found)
    }
  }

  // With a transaction each, only the script at fault fails. A constraint that is checked at the
  // commit is such a case.
  #repeatAlone(group: readonly Job[]): void {
    this.#again.unshift(...group)
    this.#alone = group.length
  }

  #rollBack(): void {
    if (this.#connection.isInTransaction) this.#connection.command("rollback")
  }

  #rollBackQuietly(): void {
    try {
      this.#rollBack()
    } catch {
      // The next transaction rolls back before it begins, and rejects its jobs if that fails too.
    }
  }
}

/** The writes of the server itself, which are limited by what they serve. */
const ofServer = ""

class TransactionLost extends Error {
  constructor(cause: unknown) {
    super("SQLite rolled the transaction back", { cause })
  }
}
