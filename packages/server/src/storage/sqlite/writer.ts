import { allLast, type LastSteps, runScript, type Script } from "../database/database.ts"
import { unavailable } from "../database/errors.ts"
import type { Statement } from "../database/sql.ts"
import type { SqliteConnection } from "./connection.ts"
import { fromSqliteError, isBusy, isConstraint } from "./errors.ts"

export const writerLimits = {
  /** Scripts that share a transaction. */
  groupMax: 256,
  /** Scripts that wait. */
  waitingMax: 10_000,
  /** How long a script waits while another process writes. */
  lockMsMax: 5_000,
  /** The same for a patient script. */
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

interface Job {
  readonly script: () => Script<unknown>
  readonly deadline: number
  /** Does the work of the script by other means. */
  readonly delegate?: Delegate | undefined
  resolve(value: unknown): void
  reject(error: unknown): void
}

/**
 * Group commit: the scripts that arrive during one turn of the event loop share one transaction, and
 * so one wait for the disk, which is most of the cost of a write. Their last steps run at the end of
 * it. Each promise settles only when the commit is durable. When one script fails, all run again,
 * each in a savepoint of its own with its last steps, so that it fails alone.
 */
export class SqliteWriter {
  readonly #connection: SqliteConnection
  readonly #limits: SqliteWriterLimits
  readonly #hooks: SqliteWriterHooks
  readonly #queue: Job[] = []
  /**
   * How many jobs at the head of the queue must not share a transaction, because one of them made
   * their last transaction fail.
   */
  #alone = 0
  /** How many jobs of the queue can be delegated. */
  #delegable = 0
  #isScheduled = false
  /** The channels that the statements of the open transaction name. */
  readonly #notices = new Set<string>()
  #onIdle: (() => void) | undefined

  constructor(connection: SqliteConnection, limits: SqliteWriterLimits, hooks: SqliteWriterHooks) {
    this.#connection = connection
    this.#limits = limits
    this.#hooks = hooks
  }

  get waiting(): number {
    return this.#queue.length
  }

  /** Calls `delegate`, if there is one, to do the work of the script, and runs it if that fails. */
  write<T>(script: () => Script<T>, isPatient: boolean, delegate?: Delegate): Promise<T> {
    if (this.#onIdle !== undefined) return Promise.reject(unavailable("it is closed"))
    if (this.#queue.length >= this.#limits.waitingMax)
      return Promise.reject(unavailable("too many writes are waiting"))
    const deadline =
      performance.now() + (isPatient ? this.#limits.patientMsMax : this.#limits.lockMsMax)
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({
        script,
        deadline,
        delegate,
        resolve: resolve as (value: unknown) => void,
        reject,
      })
      if (delegate) this.#delegable++
      this.#schedule()
    })
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
    setImmediate(() => this.#flush())
  }

  #flush(): void {
    this.#isScheduled = false
    if (this.#queue.length === 0) {
      this.#onIdle?.()
      return
    }
    if (!this.#canWrite()) {
      if (this.#onIdle !== undefined) this.#schedule()
      return
    }
    const first = this.#queue[0]
    if (first?.delegate) {
      this.#queue.shift()
      this.#delegable--
      void this.#delegate(first, first.delegate)
      return
    }
    const group = this.#queue.splice(0, this.#countGroup())
    if (this.#begin(group)) {
      this.#alone = Math.max(0, this.#alone - 1)
      this.#write(group)
    }
    if (this.#queue.length > 0 || this.#onIdle !== undefined) this.#schedule()
  }

  /** If false, all waiting jobs are rejected with the reason. */
  #canWrite(): boolean {
    try {
      this.#hooks.assertWritable()
      return true
    } catch (error) {
      for (const job of this.#queue.splice(0)) job.reject(error)
      this.#delegable = 0
      return false
    }
  }

  #countGroup(): number {
    if (this.#alone > 0) return 1
    const delegated =
      this.#delegable > 0 ? this.#queue.findIndex(({ delegate }) => delegate !== undefined) : -1
    return delegated === -1 ? this.#limits.groupMax : Math.min(delegated, this.#limits.groupMax)
  }

  /**
   * The writer pauses until the other connection is done: otherwise the two would wait for each
   * other's lock inside SQLite.
   */
  async #delegate(job: Job, delegate: Delegate): Promise<void> {
    this.#isScheduled = true
    const result = await delegate().catch(() => "failed" as const)
    this.#isScheduled = false
    if (result === "failed") this.#queue.unshift({ ...job, delegate: undefined })
    else {
      this.#hooks.onCommit()
      job.resolve(result.value)
    }
    if (this.#queue.length > 0 || this.#onIdle !== undefined) this.#schedule()
  }

  #begin(group: readonly Job[]): boolean {
    try {
      this.#rollBack()
      this.#notices.clear()
      this.#connection.command("begin immediate")
      return true
    } catch (error) {
      if (isBusy(error)) this.#tryLater(group, error)
      else for (const job of group) job.reject(fromSqliteError(error))
      return false
    }
  }

  // Waiting inside SQLite would block the whole server, reads included, until the other process is
  // done.
  #tryLater(group: readonly Job[], error: unknown): void {
    const now = performance.now()
    for (const job of group) if (job.deadline <= now) job.reject(fromSqliteError(error))
    this.#queue.unshift(...group.filter((job) => job.deadline > now))
    this.#isScheduled = true
    setTimeout(() => this.#flush(), this.#limits.lockRetryMs)
  }

  #write(group: readonly Job[]): void {
    try {
      const settlements = this.#runTogether(group) ?? group.map((job) => this.#run(job))
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
   * than the rest of a save. Undefined when one of them has failed: all are rolled back then, and a
   * new transaction has begun.
   */
  #runTogether(group: readonly Job[]): readonly (() => void)[] | undefined {
    const lastSteps: LastSteps = new Map()
    try {
      const settlements = group.map((job) => {
        const value = this.#runScript(job.script, lastSteps)
        if (!this.#connection.isInTransaction) throw new TransactionLost(undefined)
        return () => job.resolve(value)
      })
      this.#runLast(lastSteps)
      return settlements
    } catch {
      this.#rollBack()
      this.#connection.command("begin immediate")
      return undefined
    }
  }

  /** Runs the script in a savepoint and returns what to do with its promise after the commit. */
  #run(job: Job): () => void {
    const lastSteps: LastSteps = new Map()
    this.#connection.command("savepoint script")
    try {
      const value = this.#runScript(job.script, lastSteps)
      this.#runLast(lastSteps)
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

  #runScript<T>(script: () => Script<T>, lastSteps: LastSteps): T {
    const run = (statement: Statement) => {
      if (statement.notice !== undefined) this.#notices.add(statement.notice)
      return this.#connection.run(statement)
    }
    return runScript(script, run, lastSteps)
  }

  #runLast(lastSteps: LastSteps): void {
    if (lastSteps.size > 0) this.#runScript(() => allLast(lastSteps), lastSteps)
  }

  // With a transaction each, only the script at fault fails. A constraint that is checked at the
  // commit is such a case.
  #repeatAlone(group: readonly Job[]): void {
    this.#queue.unshift(...group)
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

class TransactionLost extends Error {
  constructor(cause: unknown) {
    super("SQLite rolled the transaction back", { cause })
  }
}
