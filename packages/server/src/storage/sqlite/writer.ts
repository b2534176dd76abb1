import { allLast, type LastSteps, runScript, type Script } from "../database/database.ts"
import { unavailable } from "../database/errors.ts"
import type { SqliteConnection } from "./connection.ts"
import { fromSqliteError, isBusy, isConstraint } from "./errors.ts"

export interface SqliteWriterLimits {
  /** Scripts that share a transaction. */
  readonly groupMax: number
  /** Scripts that wait. */
  readonly waitingMax: number
  /** How long a script waits while another process writes. */
  readonly lockMsMax: number
  /** The same for a patient script. */
  readonly patientMsMax: number
  /** How soon to ask again after another process was found writing. */
  readonly lockRetryMs: number
}

export interface SqliteWriterHooks {
  /**
   * Throws where nothing that is written would be kept. Asked before a transaction, and before
   * anybody hears of its commit.
   */
  assertWritable(): void
  /** Called before anybody hears of a commit. */
  onCommit(): void
}

interface Job {
  readonly script: () => Script<unknown>
  readonly deadline: number
  /** Has it done by somebody else while nobody writes here; false when nothing came of it. */
  readonly lend?: (() => Promise<boolean>) | undefined
  resolve(value: unknown): void
  reject(error: unknown): void
}

/**
 * Group commit: the scripts that came in during one turn of the event loop share one transaction,
 * and so one wait for the disk, which is most of the cost of a write. Their last steps share the
 * end of it. Each hears of its outcome only when the commit is durable. When one of them fails, all
 * are run again, each in a savepoint of its own with its last steps, so that it fails alone.
 */
export class SqliteWriter {
  readonly #connection: SqliteConnection
  readonly #limits: SqliteWriterLimits
  readonly #hooks: SqliteWriterHooks
  readonly #queue: Job[] = []
  /**
   * So many of the queue must not share a transaction, because one of them spoilt the last one for
   * the others.
   */
  #alone = 0
  /** Of the queue, how many may be done by somebody else. */
  #lendable = 0
  #isScheduled = false
  #onIdle: (() => void) | undefined

  constructor(connection: SqliteConnection, limits: SqliteWriterLimits, hooks: SqliteWriterHooks) {
    this.#connection = connection
    this.#limits = limits
    this.#hooks = hooks
  }

  get waiting(): number {
    return this.#queue.length
  }

  /** With `lend`, somebody else is asked first to do what the script does. */
  write<T>(script: () => Script<T>, isPatient: boolean, lend?: () => Promise<boolean>): Promise<T> {
    if (this.#onIdle !== undefined) return Promise.reject(unavailable("it is closed"))
    if (this.#queue.length >= this.#limits.waitingMax)
      return Promise.reject(unavailable("too many writes are waiting"))
    const deadline =
      performance.now() + (isPatient ? this.#limits.patientMsMax : this.#limits.lockMsMax)
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({
        script,
        deadline,
        lend,
        resolve: resolve as (value: unknown) => void,
        reject,
      })
      if (lend) this.#lendable++
      this.#schedule()
    })
  }

  /** Resolves when everything that waits has been written. */
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
    if (first?.lend) {
      this.#queue.shift()
      this.#lendable--
      void this.#lend(first, first.lend)
      return
    }
    const group = this.#queue.splice(0, this.#countGroup())
    if (this.#begin(group)) {
      this.#alone = Math.max(0, this.#alone - 1)
      this.#write(group)
    }
    if (this.#queue.length > 0 || this.#onIdle !== undefined) this.#schedule()
  }

  /** Whoever waits hears why if not. */
  #canWrite(): boolean {
    try {
      this.#hooks.assertWritable()
      return true
    } catch (error) {
      for (const job of this.#queue.splice(0)) job.reject(error)
      this.#lendable = 0
      return false
    }
  }

  #countGroup(): number {
    if (this.#alone > 0) return 1
    const lent = this.#lendable > 0 ? this.#queue.findIndex(({ lend }) => lend !== undefined) : -1
    return lent === -1 ? this.#limits.groupMax : Math.min(lent, this.#limits.groupMax)
  }

  /**
   * Nobody writes here until it is back: two that want to write would have to wait for each other
   * inside SQLite.
   */
  async #lend(job: Job, lend: () => Promise<boolean>): Promise<void> {
    this.#isScheduled = true
    const isDone = await lend().catch(() => false)
    this.#isScheduled = false
    if (isDone) {
      this.#hooks.onCommit()
      job.resolve(undefined)
    } else this.#queue.unshift({ ...job, lend: undefined })
    if (this.#queue.length > 0 || this.#onIdle !== undefined) this.#schedule()
  }

  #begin(group: readonly Job[]): boolean {
    try {
      this.#rollBack()
      this.#connection.command("begin immediate")
      return true
    } catch (error) {
      if (isBusy(error)) this.#tryLater(group, error)
      else for (const job of group) job.reject(fromSqliteError(error))
      return false
    }
  }

  // Waiting inside SQLite would stop the whole server, reads included, for as long as the other
  // process takes.
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
      // What was committed to a file that is gone by now was not kept.
      this.#hooks.assertWritable()
      for (const settle of settlements) settle()
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
   * Runs the scripts as one, since FTS5 writes its index out at every savepoint, which costs more
   * than the rest of a save. Undefined when one of them failed: nothing of any remains then, and a
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
      // Some errors, such as a full disk, make SQLite roll back everything by itself, the
      // neighbours' work included.
      if (!this.#connection.isInTransaction) throw new TransactionLost(error)
      this.#connection.command("rollback to script")
      this.#connection.command("release script")
      return () => job.reject(fromSqliteError(error))
    }
  }

  #runScript<T>(script: () => Script<T>, lastSteps: LastSteps): T {
    return runScript(script, (statement) => this.#connection.run(statement), lastSteps)
  }

  #runLast(lastSteps: LastSteps): void {
    if (lastSteps.size > 0) this.#runScript(() => allLast(lastSteps), lastSteps)
  }

  // Whose fault it was shows when each has a transaction of its own. A constraint that is only
  // checked by the commit is such a case.
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
      // The next transaction tries again before it begins, and tells its callers if that fails too.
    }
  }
}

class TransactionLost extends Error {
  constructor(cause: unknown) {
    super("SQLite rolled the transaction back", { cause })
  }
}
