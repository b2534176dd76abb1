import type { ImportAddress } from "../../domain/modules/import-address.ts"
import { list } from "../database/batch-sizes.ts"
import { type Database, rows, type Script } from "../database/database.ts"
import type { Dialect } from "../database/dialect.ts"
import { unavailable } from "../database/errors.ts"
import { join, nothing, type Statement, sql } from "../database/sql.ts"

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
  /** Of its versions, those one of which may become the current one: what they are pinned to. */
  readonly pinsOf?: readonly number[] | undefined
  /** The name it is going to have. */
  readonly name?: NameKey | undefined
  /** Whether what it imports is going to be counted differently. */
  readonly isRecounted?: boolean
}

/** The vals that stay as they are until the transaction ends. */
export interface LinkLocks {
  has(valId: string): boolean
}

const limits = {
  /**
   * Each attempt that fails is one in which somebody else's write went through, so this many in a
   * row are no accident.
   */
  attemptsMax: 50,
}

/** Others got in between while we waited for locks, so that we have the wrong ones. */
export class LinksMoved extends Error {}

/**
 * Writes what changes links. All such scripts take their locks in one order: first the names that
 * they resolve or take, then the vals whose links or counts they change, by id. In any other order
 * two vals that import each other deadlock when both are saved; without the names, a save that
 * imports a name and another that takes it could each miss the other. Which vals those are is only
 * known for certain when they are locked: if it turns out that one is missing, the script begins
 * again, for to lock it now would be out of order.
 */
export async function writeLinks<T>(db: Database, script: () => Script<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.write(script)
    } catch (error) {
      if (!(error instanceof LinksMoved)) throw error
      if (attempt >= limits.attemptsMax)
        throw unavailable("others keep changing what the val is linked to", error)
    }
  }
}

/** Before anything else. */
export function* lockNames(dialect: Dialect, names: readonly NameKey[]): Script<void> {
  if (names.length === 0) return
  const locks = new Set(names.map(({ username, name }) => `${username}/${name}`))
  for (const lock of [...locks].sort()) yield* dialect.lockName(lock)
}

/** After the names and before anything else. */
export function* lockVals(dialect: Dialect, change: LinkChange): Script<LinkLocks> {
  if (dialect.forUpdate === nothing) return { has: () => true }
  const parts = [sql`select id from vals where id = ${change.valId}`, ...otherVals(change)]
  const locked = yield* rows<{ id: string }>(sql`
    select v.id from vals v join (${join(parts, " union ")}) linked on linked.id = v.id order by v.id ${dialect.forUpdate} of v`)
  return new Set(locked.map(({ id }) => id))
}

/** Refuses to touch what is not locked. */
export function assertLocked(locks: LinkLocks, valIds: readonly string[]): void {
  if (!valIds.every((id) => locks.has(id))) throw new LinksMoved()
}

const none = sql`select id from vals where 1 = 0`

function* otherVals({
  valId,
  imports,
  pinsOf,
  name,
  isRecounted = false,
}: LinkChange): Generator<Statement> {
  const before = sql`select to_val_id as id from dependencies where from_val_id = ${valId}`
  const after = imports && imports.length > 0 ? valsNamed(imports) : none
  if (isRecounted) yield before
  // What is imported before and after is left alone, so that the many who import a popular val need
  // not wait for each other.
  if (imports)
    yield isRecounted ? after : sql`((${before} except ${after}) union (${after} except ${before}))`
  if (pinsOf && pinsOf.length > 0) yield valsPinned(valId, pinsOf)
  if (name) yield sql`(${importersOf(valId, name)})`
}

function valsNamed(names: readonly NameKey[]): Statement {
  const pairs = names.map(({ username, name }) => sql`(${username}, ${name})`)
  return sql`select v.id from users u join vals v on v.owner_id = u.id where (u.username_key, v.name_key) in (${join(pairs, ", ")})`
}

function valsPinned(valId: string, versions: readonly number[]): Statement {
  return sql`select pinned_val_id as id from imports where val_id = ${valId} and version in (${list(versions)})`
}

/**
 * The vals whose current version imports this one: those that are pinned to it, and those that name
 * it and are pinned to nothing.
 */
export function importersOf(valId: string, { username, name }: NameKey): Statement {
  return sql`
    select v.id from imports i join vals v on v.id = i.val_id and v.version = i.version where i.pinned_val_id = ${valId}
    union all
    select v.id from imports i join vals v on v.id = i.val_id and v.version = i.version
    where i.username_key = ${username} and i.name_key = ${name} and i.pinned_val_id is null`
}
