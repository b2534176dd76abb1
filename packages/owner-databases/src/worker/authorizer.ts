import { constants } from "node:sqlite"
import { allowedFunctions, allowedModules, allowedPragmas, refusedTables } from "./allowed-sql.ts"
import { doneTable } from "./done-requests.ts"
import { StatementError } from "./sql-errors.ts"

/** What is known about a statement once SQLite has prepared it. */
export interface StatementTraits {
  /** Whether the statement leaves the database as it is. */
  readonly isRead: boolean
  /** Whether the statement inserts, updates or deletes rows, which are counted. */
  readonly isChange: boolean
  readonly isInsert: boolean
}

/** One call of the authorizer. The meaning of `first` and `second` depends on the action. */
interface Question {
  readonly action: number
  readonly first: string
  readonly second: string | null
  readonly database: string | null
  /** The trigger or view that causes it. */
  readonly source: string | null
}

export type Authorizer = ReturnType<typeof createAuthorizer>

/** What is known about the current statement so far. */
interface Notes {
  readonly isInBatch: boolean
  /** Whether the table of done requests is ours, and no statement may use it. */
  readonly hasOwnTable: boolean
  /** The statement, while it is prepared. */
  readonly text: string
  refusal?: string
  isWrite: boolean
  isDefinition: boolean
  isChange: boolean
  isInsert: boolean
}

/**
 * Decides what statements of one connection may do. SQLite calls it while it prepares a statement,
 * once for each thing that the statement would do, so the text need not be searched. It also calls
 * it for what a statement causes while it runs, such as the pragma behind a table function.
 */
export function createAuthorizer() {
  let notes: Notes | undefined
  let hasOwnTable = true
  return {
    /** SQLite calls this. Outside of `guard` the statements are our own, and everything is allowed. */
    decide(
      action: number,
      first: string | null,
      second: string | null,
      database: string | null,
      source: string | null,
    ): number {
      if (!notes) return constants.SQLITE_OK
      // `analyze` is about all tables: it leaves out ours.
      if (action === constants.SQLITE_ANALYZE && notes.hasOwnTable && isOwnTable(first))
        return constants.SQLITE_IGNORE
      const refusal = findRefusal(notes, { action, first: first ?? "", second, database, source })
      if (refusal === undefined) return constants.SQLITE_OK
      notes.refusal ??= refusal
      return constants.SQLITE_DENY
    },
    /** Says whether the table of done requests is ours, or could become it. */
    protectOwnTable(isOurs: boolean): void {
      hasOwnTable = isOurs
    },
    /**
     * Prepares or runs a statement of a user, whose text is needed to prepare it. Throws the reason
     * when something is refused.
     */
    guard<T>(isInBatch: boolean, work: () => T, text = "") {
      const taken: Notes = {
        isInBatch,
        hasOwnTable,
        text,
        isWrite: false,
        isDefinition: false,
        isChange: false,
        isInsert: false,
      }
      notes = taken
      try {
        return { result: work(), traits: toTraits(taken) }
      } catch (error) {
        throw taken.refusal === undefined
          ? error
          : new StatementError(`not authorized: ${taken.refusal}`)
      } finally {
        notes = undefined
      }
    },
  }
}

function toTraits({ isWrite, isDefinition, isChange, isInsert }: Notes): StatementTraits {
  const isCounted = isChange && !isDefinition
  return { isRead: !isWrite, isChange: isCounted, isInsert: isCounted && isInsert }
}

function findRefusal(notes: Notes, question: Question): string | undefined {
  const { action, first, second } = question
  if (notes.hasOwnTable && usesOwnTable(question, notes.text))
    return `the table ${doneTable} is the server's`
  switch (action) {
    case constants.SQLITE_SELECT:
    case constants.SQLITE_RECURSIVE:
      return undefined
    case constants.SQLITE_READ:
      return isHidden(first.toLowerCase()) ? `the table ${first} is not available` : undefined
    case constants.SQLITE_FUNCTION:
      return allowedFunctions.has((second ?? "").toLowerCase())
        ? undefined
        : `the function ${second} is not available`
    case constants.SQLITE_PRAGMA:
      return findPragmaRefusal(notes, first.toLowerCase(), second)
    case constants.SQLITE_INSERT:
    case constants.SQLITE_UPDATE:
    case constants.SQLITE_DELETE:
      noteChange(notes, question)
      return undefined
    default:
      return findDefinitionRefusal(notes, question)
  }
}

function usesOwnTable({ action, first, second }: Question, text: string): boolean {
  switch (action) {
    case constants.SQLITE_READ:
    case constants.SQLITE_INSERT:
    case constants.SQLITE_UPDATE:
    case constants.SQLITE_DELETE:
      return isOwnTable(first)
    case constants.SQLITE_ALTER_TABLE:
      // The question does not contain the new name of a table.
      return isOwnTable(second) || text.toLowerCase().includes(doneTable)
    default:
      return definitions.has(action) && (isOwnTable(first) || isOwnTable(second))
  }
}

function isOwnTable(name: string | null): boolean {
  return name?.toLowerCase() === doneTable
}

function isHidden(table: string): boolean {
  return (
    refusedTables.has(table) ||
    (table.startsWith(pragmaPrefix) && !allowedPragmas.has(table.slice(pragmaPrefix.length)))
  )
}

function findPragmaRefusal(notes: Notes, name: string, value: string | null): string | undefined {
  const use = allowedPragmas.get(name)
  if (use === undefined) return `the pragma ${name} is not available`
  if (value === null || use === "ask") return undefined
  notes.isWrite = true
  notes.isDefinition = true
  if (
    use === "set" ||
    (use === "set_on" && onPattern.test(value)) ||
    (use === "set_in_batch" && notes.isInBatch)
  )
    return undefined
  return `the pragma ${name} cannot be set to ${value}${use === "set_in_batch" ? " outside of a batch" : ""}`
}

/** Changes by triggers are not counted. */
function noteChange(notes: Notes, { action, source }: Question): void {
  notes.isWrite = true
  if (source !== null) return
  notes.isChange = true
  notes.isInsert ||= action === constants.SQLITE_INSERT
}

function findDefinitionRefusal(
  notes: Notes,
  { action, second, database }: Question,
): string | undefined {
  notes.isWrite = true
  notes.isDefinition = true
  if (
    action === constants.SQLITE_CREATE_VTABLE &&
    !allowedModules.has((second ?? "").toLowerCase())
  )
    return `virtual tables of ${second} are not available`
  if (definitions.has(action)) return database === "temp" ? noTemporary : undefined
  if (transactions.has(action)) return "transactions are not available: use a batch"
  if (action === constants.SQLITE_ATTACH) return noFiles
  return temporaries.has(action) ? noTemporary : "this is not available"
}

/** Why ATTACH and VACUUM are refused. */
export const noFiles = "other databases and files are not available (ATTACH, VACUUM)"

const pragmaPrefix = "pragma_"
const onPattern = /^(on|1|true|yes)$/i
/**
 * Temporary objects would exist in one process only, so later statements may or may not see them.
 */
const noTemporary = "temporary tables, views and triggers are not available"

const transactions: ReadonlySet<number> = new Set([
  constants.SQLITE_TRANSACTION,
  constants.SQLITE_SAVEPOINT,
])

const definitions: ReadonlySet<number> = new Set([
  constants.SQLITE_CREATE_INDEX,
  constants.SQLITE_CREATE_TABLE,
  constants.SQLITE_CREATE_TRIGGER,
  constants.SQLITE_CREATE_VIEW,
  constants.SQLITE_CREATE_VTABLE,
  constants.SQLITE_DROP_INDEX,
  constants.SQLITE_DROP_TABLE,
  constants.SQLITE_DROP_TRIGGER,
  constants.SQLITE_DROP_VIEW,
  constants.SQLITE_DROP_VTABLE,
  constants.SQLITE_ALTER_TABLE,
  constants.SQLITE_REINDEX,
  constants.SQLITE_ANALYZE,
])

const temporaries: ReadonlySet<number> = new Set([
  constants.SQLITE_CREATE_TEMP_INDEX,
  constants.SQLITE_CREATE_TEMP_TABLE,
  constants.SQLITE_CREATE_TEMP_TRIGGER,
  constants.SQLITE_CREATE_TEMP_VIEW,
  constants.SQLITE_DROP_TEMP_INDEX,
  constants.SQLITE_DROP_TEMP_TABLE,
  constants.SQLITE_DROP_TEMP_TRIGGER,
  constants.SQLITE_DROP_TEMP_VIEW,
])
