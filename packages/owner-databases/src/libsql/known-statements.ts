import { RecentMap } from "@hamlet/kit"
import type { SqlStatement } from "../owner-databases.ts"
import { type CompiledStatement, knownLimits, type Plan } from "./libsql-messages.ts"

/** A statement that was compiled before. */
export interface KnownStatement extends CompiledStatement {
  /** Whether its last request took no time to speak of. */
  isQuick: boolean
}

/** The statements of a request. Their text decides, and whether they are a batch. */
export interface KnowableRequest {
  readonly namespace: string
  readonly isSingle: boolean
  /** Whether they may write. */
  readonly isReader: boolean
  /** Undefined if they are too long to be known. */
  readonly statements: readonly SqlStatement[] | undefined
}

type TableFacts = Pick<Plan, "version" | "hasLateChecks" | "isDoneTableTheirs">

/** All statements of a request, with the version of the tables with which they were compiled. */
export interface KnownRequest extends TableFacts {
  readonly statements: readonly KnownStatement[]
}

interface Database extends TableFacts {
  /** By the text of the user, the one that was used last is the last. */
  readonly statements: RecentMap<string, KnownStatement>
}

/**
 * The statements that workers have compiled and allowed, by their text and the version of the tables.
 * The same text needs no worker while the tables are the same, which each batch checks on the server.
 */
export class KnownStatements {
  readonly #databases = new RecentMap<string, Database>(knownLimits.databasesMax)

  /** Undefined if one of them is not known, or writes where that is not allowed. */
  find({ namespace, isSingle, isReader, statements }: KnowableRequest): KnownRequest | undefined {
    const database = this.#databases.get(namespace)
    if (!database || !statements) return undefined
    const found: KnownStatement[] = []
    for (const { sql } of statements) {
      const known = database.statements.get(toKey(isSingle, sql))
      if (!known || (isReader && !known.isRead)) return undefined
      found.push(known)
    }
    return found.length === 0 ? undefined : { ...database, statements: found }
  }

  /** Keeps what a worker has compiled. */
  note({ namespace, isSingle, statements = [] }: KnowableRequest, plan: Plan): void {
    const { version, hasLateChecks, isDoneTableTheirs, compiled } = plan
    if (compiled?.length !== statements.length) return
    const former = this.#databases.get(namespace)
    const database: Database =
      former?.version === version
        ? former
        : {
            version,
            hasLateChecks,
            isDoneTableTheirs,
            statements: new RecentMap<string, KnownStatement>(knownLimits.statementsMax),
          }
    this.#databases.set(namespace, database)
    for (const [index, { sql }] of statements.entries()) {
      const known = { ...(compiled[index] as CompiledStatement), isQuick: false }
      database.statements.set(toKey(isSingle, sql), known)
    }
  }

  /** The tables have changed. */
  forget(namespace: string): void {
    this.#databases.delete(namespace)
  }
}

/** Requests of these kinds may be sent together: quick reads, or quick changes of rows. */
export type TogetherKind = "reads" | "changes"

/**
 * Undefined if it has to be sent by itself. A change that returns rows does not end its transaction
 * before they are read, and one whose foreign keys are checked late would see what others have added.
 */
export function findTogetherKind({
  statements,
  hasLateChecks,
}: KnownRequest): TogetherKind | undefined {
  if (!statements.every(({ isQuick }) => isQuick)) return undefined
  if (statements.every(({ isRead }) => isRead)) return "reads"
  const isPlain = statements.every(({ isChange, hasColumns }) => isChange && !hasColumns)
  return isPlain && !hasLateChecks ? "changes" : undefined
}

/** Notes whether a request of them was quick. */
export function noteQuick(known: KnownRequest | undefined, isQuick: boolean): void {
  for (const statement of known?.statements ?? []) statement.isQuick = isQuick
}

/** A pragma may be allowed in a batch only. */
function toKey(isSingle: boolean, sql: string): string {
  return `${isSingle ? "s" : "b"}${sql}`
}
