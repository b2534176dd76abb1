import { toValNameKey } from "@hamlet/contract"
import {
  type Database,
  type Dialect,
  join,
  nothing,
  raw,
  rows,
  type Script,
  type Statement,
  sql,
  unavailable,
} from "@hamlet/database"
import type { ImportAddress } from "../../domain/modules/import-address.ts"
import { isCurrentState, selectImports } from "../files/branch-rows.ts"

/** An owner's name and a val's, as they are compared. */
export type NameKey = Pick<ImportAddress, "username" | "name">

/** The key of a val in imports and name locks. */
export function toNameKey(username: string, name: string): NameKey {
  return { username: username.toLowerCase(), name: toValNameKey(name) }
}

/** What writes of a val that may not exist yet wait for: its name. */
export function toTurn({ ownerId, name }: { ownerId: string; name: string }): string {
  return `${ownerId}/${toValNameKey(name)}`
}

/** The planned change of the links of a val. What is undefined stays unchanged. */
export interface LinkChange {
  readonly valId: string
  /** The new imports. */
  readonly imports?: readonly NameKey[] | undefined
  /** The versions that may become current. The vals they are pinned to are locked. */
  readonly pinsOf?: readonly number[] | undefined
  /** The new name. */
  readonly name?: NameKey | undefined
  /** Whether the counts of the imported vals and of the original of a fork may change. */
  readonly isRecounted?: boolean
  /** The original of a new fork. */
  readonly origin?: string | undefined
}

/** The vals that are locked until the transaction ends. */
export interface LinkLocks {
  has(valId: string): boolean
}

/** Where transactions run one at a time. */
const allLocked: LinkLocks = { has: () => true }

const limits = {
  /**
   * An attempt fails only when a write of another transaction succeeded, so this many failures in a
   * row are no coincidence.
   */
  attemptsMax: 50,
}

/** Other transactions changed links while this one waited for its locks: it has the wrong ones. */
export class LinksMoved extends Error {}

/**
 * Runs a script that changes links. All such scripts take their locks in the same order: first the
 * names that they resolve or take, then the vals whose links or counts they change, by id. In any
 * other order two vals that import each other would deadlock when both are saved. Without the name
 * locks, a save that imports a name and another one that takes it could each miss the other. Which
 * vals to lock is only certain once they are locked: if one turns out to be missing, the script
 * starts again, because locking it later would break the order. Scripts with the same `inTurnOf`, the
 * val that they change, run one after the other.
 */
export async function writeLinks<T>(
  db: Database,
  inTurnOf: string,
  script: () => Script<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.write(script, { inTurnOf })
    } catch (error) {
      if (!(error instanceof LinksMoved)) throw error
      if (attempt >= limits.attemptsMax)
        throw unavailable("other writes keep changing the links of the val", error)
    }
  }
}

/** Locks names. Must come before any other statement. */
export function* lockNames(dialect: Dialect, names: readonly NameKey[]): Script<void> {
  if (names.length === 0) return
  const locks = new Set(names.map(({ username, name }) => `${username}/${name}`))
  for (const lock of [...locks].sort()) yield* dialect.lockName(lock)
}

/** Locks the vals of a change. Must come after the names and before any other statement. */
export function* lockVals(dialect: Dialect, change: LinkChange): Script<LinkLocks> {
  if (dialect.forUpdate === nothing) return allLocked
  const parts = [sql`select id from vals where id = ${change.valId}`, ...otherVals(change)]
  const locked = yield* rows<{ id: string }>`
    select v.id from vals v join (${join(parts, " union ")}) linked on linked.id = v.id order by v.id ${dialect.forUpdate} of v`
  return new Set(locked.map(({ id }) => id))
}

/** Makes the script start again when one of the vals is not locked. */
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
  origin,
}: LinkChange): Generator<Statement> {
  const before = sql`select to_val_id as id from dependencies where from_val_id = ${valId}`
  const after = imports && imports.length > 0 ? valsNamed(imports) : none
  if (isRecounted) {
    yield before
    yield sql`select forked_from_id as id from vals where id = ${valId}`
  }
  if (origin !== undefined) yield sql`select id from vals where id = ${origin}`
  // A val that is imported before and after is not locked, so that saves that import a popular val
  // do not wait for each other.
  if (imports)
    yield isRecounted ? after : sql`((${before} except ${after}) union (${after} except ${before}))`
  if (pinsOf && pinsOf.length > 0) yield valsPinned(valId, pinsOf)
  if (name) yield sql`(${importersOf(valId, name)})`
}

function valsNamed(names: readonly NameKey[]): Statement {
  // Many files may import the same vals.
  const distinct = new Map(names.map((one) => [`${one.username}/${one.name}`, one]))
  const pairs = [...distinct.values()].map(({ username, name }) => sql`(${username}, ${name})`)
  return sql`select v.id from users u join vals v on v.owner_id = u.id where (u.username_key, v.name_key) in (${join(pairs, ", ")})`
}

function valsPinned(valId: string, versions: readonly number[]): Statement {
  const pinned = versions.map((version) =>
    selectImports(raw("i.pinned_val_id as id"), valId, version),
  )
  return sql`(${join(pinned, " union ")})`
}

/**
 * The vals whose current version imports this one: those pinned to it, and those that import its
 * name without a pin.
 */
export function importersOf(valId: string, { username, name }: NameKey): Statement {
  return sql`
    select v.id from imports i join vals v on v.id = i.branch_id where i.pinned_val_id = ${valId} and ${isCurrentState}
    union all
    select v.id from imports i join vals v on v.id = i.branch_id
    where i.username_key = ${username} and i.name_key = ${name} and i.pinned_val_id is null and ${isCurrentState}`
}
