import type { DatabaseSync } from "node:sqlite"
import type { MirrorLimits } from "../../libsql/libsql-messages.ts"
import type { SqlRequest, SqlStatement } from "../../owner-databases.ts"
import { type Authorizer, createAuthorizer, noFiles } from "../authorizer.ts"
import { isNamed, listArgs, toBindings } from "../bind-args.ts"
import { describeDoneTable, toDoneTableState } from "../done-requests.ts"
import { openConnection } from "../open-connection.ts"
import {
  createPreparedStatements,
  type Prepared,
  type PreparedStatements,
} from "../prepared-statements.ts"
import { numberParameters, quoteText } from "../scan-sql.ts"
import { StatementError, WriteRefused } from "../sql-errors.ts"
import type { BoundStatement } from "./plan-batch.ts"

/** One table, index, view or trigger. */
export interface SchemaObject {
  readonly type: string
  readonly name: string
  readonly sql: string
}

/** The tables of a database. The version changes with each change of them. */
export interface Schema {
  readonly version: string
  readonly objects: readonly SchemaObject[]
}

/** A statement that may be sent to the server. */
type AllowedStatement = Prepared & BoundStatement

/**
 * The tables of a database on a libSQL server, without their rows. Statements are compiled here
 * first: this is where the authorizer decides about them. The server itself would run any statement,
 * `readfile('/etc/passwd')` among them.
 *
 * A batch therefore begins with a check that the tables are still these. What is sent is exactly the
 * text that was compiled here, after the definitions before it in the batch.
 */
export class SchemaMirror {
  readonly version: string
  /** Whether a foreign key may be checked at the end of a transaction only. */
  readonly hasLateChecks: boolean
  /** Whether the user has a table with the name of our table of done requests. */
  readonly isDoneTableTheirs: boolean
  readonly #db: DatabaseSync
  readonly #authorizer: Authorizer = createAuthorizer()
  readonly #statements: PreparedStatements
  readonly #limits: MirrorLimits
  #index = 0

  constructor({ version, objects }: Schema, limits: MirrorLimits) {
    this.version = version
    this.hasLateChecks = objects.some(({ sql }) => /deferr/i.test(sql))
    this.#limits = limits
    const { bytesMax } = limits
    const settings = { bytesMax, isShared: false, busyMsMax: 0, hasOnlyNamesInQuotes: true }
    this.#db = openConnection(":memory:", settings, limits, this.#authorizer)
    this.#statements = createPreparedStatements(this.#db, this.#authorizer, limits)
    // Until it is loaded, the table may be either.
    this.#authorizer.protectOwnTable(false)
    this.#load(objects)
    this.isDoneTableTheirs =
      toDoneTableState(this.#db.prepare(describeDoneTable).all()) === "theirs"
    this.#authorizer.protectOwnTable(!this.isDoneTableTheirs)
  }

  /** The index of the statement that was compiled last. */
  get index(): number {
    return this.#index
  }

  /** Throws if a statement is wrong or not allowed. The mirror stays as it was. */
  allow({ mode, statements, canWrite }: SqlRequest): readonly AllowedStatement[] {
    const isReader = mode === "read" || !canWrite
    const isBatch = mode !== "single"
    this.#index = 0
    if (!isBatch && !statements[0]) throw new StatementError("there is no statement")
    this.#db.exec("begin")
    let hasDefinition = false
    try {
      return statements.map((statement, index) => {
        this.#index = index
        const allowed = this.#allow(statement, isBatch)
        if (isReader && !allowed.isRead) throw new WriteRefused()
        if (!allowed.isRead && !allowed.isChange) {
          hasDefinition = true
          this.#define(allowed, isBatch)
        }
        return allowed
      })
    } finally {
      if (this.#db.isTransaction) this.#db.exec("rollback")
      // What was compiled with tables that are gone now must not be sent again.
      if (hasDefinition) this.#statements.clear()
    }
  }

  stop(): void {
    this.#db.close()
  }

  /** What cannot be created is left out: statements that use it fail. */
  #load(objects: readonly SchemaObject[]): void {
    const virtual = objects.filter(({ sql }) => virtualPattern.test(sql))
    // A virtual table creates its tables, which cannot be created again.
    const prefixes = virtual.map(({ name }) => `${name}_`)
    const others = objects.filter(
      ({ type, name, sql }) =>
        !virtualPattern.test(sql) &&
        !(type === "table" && prefixes.some((prefix) => name.startsWith(prefix))) &&
        !name.startsWith("sqlite_"),
    )
    const ordered = ["table", "index", "view", "trigger"].flatMap((kind) =>
      others.filter(({ type }) => type === kind),
    )
    this.#db.exec("begin")
    for (const { sql } of [...virtual, ...ordered])
      try {
        this.#authorizer.guard(true, () => this.#db.exec(sql))
      } catch {
        // As said above.
      }
    if (objects.some(({ name }) => name.startsWith("sqlite_stat"))) this.#db.exec("analyze")
    this.#db.exec("commit")
  }

  #allow({ sql, args }: SqlStatement, isInBatch: boolean): AllowedStatement {
    // The server would not stop there.
    if (sql.includes("\0")) throw new StatementError("it contains a zero character")
    const prepared = this.#prepare(sql, isInBatch)
    // SQLite asks about it only when it runs.
    if (/^vacuum\b/i.test(prepared.text)) throw new StatementError(`not authorized: ${noFiles}`)
    const values = listArgs(prepared.parameters, args)
    if (!isMixed(prepared)) return { ...prepared, values }
    const text = numberParameters(prepared.text, prepared.parameters)
    return { ...this.#statements.prepare(text, isInBatch), values }
  }

  #prepare(sql: string, isInBatch: boolean): Prepared {
    let text = sql
    for (let tries = 0; ; tries++)
      try {
        return this.#statements.prepare(text, isInBatch)
      } catch (error) {
        const name = findMissingColumn(error)
        const next = name === undefined ? text : quoteText(text, name)
        if (next === text || tries >= this.#limits.quotesMax) throw error
        text = next
      }
  }

  /** Changes the tables for the statements behind it in the batch. */
  #define(allowed: AllowedStatement, isInBatch: boolean): void {
    const { statement, parameters, values, text } = allowed
    if (unsupportedPattern.test(text))
      throw new StatementError("not authorized: this is not available on this server")
    const [head] = filledPattern.exec(text) ?? []
    const rest = statement.sourceSQL.slice(head?.length).trimEnd().replace(/;$/, "")
    // Without the rows, which may be many.
    const defining =
      head === undefined ? statement : this.#db.prepare(`${head} select * from (${rest}\n) limit 0`)
    this.#authorizer.guard(isInBatch, () => defining.all(...toBindings(parameters, values)))
    this.#statements.clear()
    this.#assertSize()
  }

  #assertSize(): void {
    const { objectsMax, charsMax } = this.#limits
    const [sizes] = this.#db
      .prepare("select count(*) as objects, total(length(sql)) as chars from sqlite_schema")
      .all() as { objects: number; chars: number }[]
    if (!sizes || (sizes.objects <= objectsMax && sizes.chars <= charsMax)) return
    throw new StatementError(
      `the database would have more than ${objectsMax} tables, indexes, views and triggers, or ${charsMax} characters of their SQL`,
    )
  }
}

const virtualPattern = /^\s*create\s+virtual\s/i
/** The beginning of `create table … as select …`. */
const filledPattern =
  /^create\s+table\s+(?:if\s+not\s+exists\s+)?(?:"[^"]*"|`[^`]*`|\[[^\]]*\]|'[^']*'|[\w$.\u0080-\uffff]+)\s+as\b/i
/** What the parser of the server does not take. */
const unsupportedPattern = /^(?:analyze\b|pragma\s+(?:main\s*\.\s*)?application_id\b)/i

/** Whether some parameters have names and others not, which the server does not take. */
function isMixed({ parameters }: Prepared): boolean {
  const named = parameters.filter(isNamed).length
  return named > 0 && named < parameters.length
}

/** A name in double quotes that is no column is a text. */
function findMissingColumn(error: unknown): string | undefined {
  const message = error instanceof Error ? error.message : ""
  const [, quoted, plain] =
    /^no such column: (?:"(.*)" - should this be a string literal in single-quotes\?|(.*))$/s.exec(
      message,
    ) ?? []
  return quoted ?? plain
}
