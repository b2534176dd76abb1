import type { ImportAddress } from "../domain/import-address.ts"
import type { Script } from "./database.ts"
import type { Dialect } from "./dialect.ts"
import { join, nothing, type Statement, sql } from "./sql.ts"

/** An owner's name and a val's, both in lower case. */
export type NameKey = Pick<ImportAddress, "username" | "name">

/** What imports and locks know a val by. */
export function toNameKey(username: string, name: string): NameKey {
  return { username: username.toLowerCase(), name: name.toLowerCase() }
}

/** What is going to happen to the links of a val; what is undefined stays as it is. */
export interface LinkChange {
  readonly valId: string
  /** What it is going to import. */
  readonly imports?: readonly NameKey[] | undefined
  /** The name it is going to have. */
  readonly name?: NameKey | undefined
  /** Whether what it imports is going to be counted differently. */
  readonly isRecounted?: boolean
}

/**
 * Whatever changes links takes its locks in this order: first the names that it resolves or takes, by themselves, then the vals whose links
 * or counts may change, by their ids. In any other order two vals that import each other deadlock when both are saved. Without the names, a
 * save that imports a name and another that takes it could each miss the other.
 */
export function* lockLinks(dialect: Dialect, change: LinkChange): Script<void> {
  yield* lockNames(dialect, [...(change.imports ?? []), ...(change.name ? [change.name] : [])])
  yield* lockLinkedVals(dialect, change)
}

/** The first half, for a val that is not there yet. */
export function* lockNames(dialect: Dialect, names: readonly NameKey[]): Script<void> {
  const locks = new Set(names.map(({ username, name }) => `${username}/${name}`))
  for (const lock of [...locks].sort()) yield* dialect.lockName(lock)
}

/** The second half. */
export function* lockLinkedVals(dialect: Dialect, change: LinkChange): Script<void> {
  if (dialect.forUpdate === nothing) return
  const parts = [sql`select id from vals where id = ${change.valId}`, ...otherVals(change)]
  yield sql`select v.id from vals v join (${join(parts, " union ")}) linked on linked.id = v.id order by v.id ${dialect.forUpdate} of v`
}

function* otherVals({ valId, imports, name, isRecounted = false }: LinkChange): Generator<Statement> {
  const before = sql`select to_val_id as id from dependencies where from_val_id = ${valId}`
  const after = imports && imports.length > 0 ? valsNamed(imports) : sql`select id from vals where 1 = 0`
  if (isRecounted) yield before
  // A val that is imported before and after is left alone: whoever saves something that imports a popular val need not wait for everybody else who does.
  if (imports) yield isRecounted ? after : sql`((${before} except ${after}) union (${after} except ${before}))`
  if (name) yield importersOf(name)
}

function valsNamed(names: readonly NameKey[]): Statement {
  const pairs = names.map(({ username, name }) => sql`(${username}, ${name})`)
  return sql`select v.id from users u join vals v on v.owner_id = u.id where (u.username_key, v.name_key) in (${join(pairs, ", ")})`
}

function importersOf({ username, name }: NameKey): Statement {
  return sql`
    select v.id from imports i join vals v on v.id = i.val_id and v.version = i.version
    where i.username_key = ${username} and i.name_key = ${name}`
}
