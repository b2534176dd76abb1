import { currentWork, type SlowLog, type Work } from "@hamlet/kit"
import type { Database, Script } from "./database.ts"
import { isUnavailable } from "./errors.ts"
import { type Statement, sql } from "./sql.ts"

/** For the metrics: whether the database responds, and how often it did not. */
export interface DatabaseHealth {
  /** Whether the last read or ping got its result. */
  readonly isUp: boolean
  readonly readErrors: number
  readonly writeErrors: number
}

/**
 * Counts the reads and writes that fail because the database is unavailable, logs those that are
 * slow, and adds all to the work that waits for them.
 */
export function watchDatabase(
  db: Database,
  slow: SlowLog,
): { readonly db: Database; health(): DatabaseHealth } {
  const health = { isUp: true, readErrors: 0, writeErrors: 0 }
  const { name } = db.dialect
  const observeRead = <T>(result: Promise<T>, timing?: Timing): Promise<T> => {
    result.then(
      (rows) => {
        health.isUp = true
        timing?.end(slow, name, Array.isArray(rows) ? rows.length : undefined)
      },
      (error: unknown) => {
        health.isUp = !isUnavailable(error)
        if (!health.isUp) health.readErrors += 1
        timing?.end(slow, name)
      },
    )
    return result
  }
  const observeWrite = <T>(result: Promise<T>, timing: Timing): Promise<T> => {
    result.then(
      () => timing.end(slow, name),
      (error: unknown) => {
        if (isUnavailable(error)) health.writeErrors += 1
        timing.end(slow, name)
      },
    )
    return result
  }
  return {
    db: {
      ...db,
      read(...given) {
        const statement = sql(...given)
        return observeRead(db.read(statement), new Timing("read", statement.text))
      },
      ping: () => observeRead(db.ping()),
      openSearch(searcher) {
        const search = db.openSearch(searcher)
        return {
          find: (candidates) =>
            observeRead(search.find(candidates), new Timing("search", candidates.select.text)),
        }
      },
      write(script, options) {
        const timing = new Timing("write", options?.byThread?.name ?? "")
        return observeWrite(
          db.write(() => timing.watch(script()), options),
          timing,
        )
      },
      writeOne(...given) {
        const statement = sql(...given)
        return observeWrite(db.writeOne(statement), new Timing("write", statement.text))
      },
      runUrgent(...given) {
        const statement = sql(...given)
        return observeWrite(db.runUrgent(statement), new Timing("write", statement.text))
      },
    },
    health: () => ({ ...health }),
  }
}

const limits = { textCharsMax: 1_000 }

/** How long a read takes, or a transaction and the slowest of its statements. */
class Timing {
  readonly #kind: "read" | "search" | "write"
  readonly #work: Work | undefined = currentWork()
  readonly #startMs = performance.now()
  /** When the first statement of a transaction began, and its last one ended. */
  #beganMs: number | undefined
  #lastMs = 0
  #statements = 1
  #text: string
  #rows: number | undefined
  #textMs = 0

  constructor(kind: "read" | "search" | "write", text: string) {
    this.#kind = kind
    this.#text = text
  }

  /**
   * Times a script. PostgreSQL resumes it before a statement has its result, unless the script
   * reads it: such a statement counts for the next one, or for the commit.
   */
  *watch<T>(steps: Script<T>): Script<T> {
    this.#statements = 0
    this.#textMs = 0
    this.#beganMs ??= performance.now()
    let step = steps.next()
    let startMs = performance.now()
    while (!step.done) {
      const { value } = step
      const found = yield value
      const endMs = performance.now()
      if (!("key" in value)) this.#noteStatement(value, endMs - startMs, found)
      step = steps.next(found)
      startMs = endMs
    }
    this.#lastMs = performance.now()
    return step.value
  }

  /** Its result is there. */
  end(slow: SlowLog, database: string, rows = this.#rows): void {
    const nowMs = performance.now()
    const ms = nowMs - this.#startMs
    const span = this.#work?.span
    if (this.#work) this.#work.databaseMs += ms
    // Work that was left behind by a request is no part of it.
    if (span?.isSampled && span.endMs === undefined)
      span.addChild(`database ${this.#kind}`, "client", this.#startMs, {
        "db.system.name": database,
        "db.query.text": this.#text.slice(0, limits.textCharsMax),
        "db.response.returned_rows": rows,
        "hamlet.statements": this.#statements,
      })
    if (ms < slow.msMin) return
    const isScript = this.#beganMs !== undefined
    slow.note({
      kind: this.#kind,
      ms: Math.round(ms),
      // For a connection, a lock of SQLite or the writes before it.
      waitedMs: isScript ? Math.round((this.#beganMs ?? 0) - this.#startMs) : undefined,
      statementMs: isScript ? Math.round(this.#textMs) : undefined,
      commitMs: isScript && this.#lastMs > 0 ? Math.round(nowMs - this.#lastMs) : undefined,
      statements: isScript ? this.#statements : undefined,
      rows,
      statement: this.#text.slice(0, limits.textCharsMax),
    })
  }

  #noteStatement({ text }: Statement, ms: number, found: unknown): void {
    this.#statements += 1
    if (ms < this.#textMs) return
    this.#textMs = ms
    this.#text = text
    this.#rows = Array.isArray(found) ? found.length : undefined
  }
}
