import { AppError } from "../../domain/app-error.ts"
import type { SavedVal, Val, ValChange } from "../../domain/vals/vals.ts"
import { firstRow, type LastStep, type Script } from "../database/database.ts"
import type { Dialect } from "../database/dialect.ts"
import { nothing, type Statement, sql } from "../database/sql.ts"
import { emitPublished, emitReferenced, emitSaved } from "../events/val-events.ts"
import { insertLockfile } from "../modules/lockfiles.ts"
import {
  type AddedTarget,
  countOutgoing,
  insertImports,
  relinkIncoming,
  relinkOutgoing,
} from "../references/links.ts"
import { type LinkLocks, toNameKey } from "../references/row-locks.ts"
import { foldBody, foldText } from "../search/fold-text.ts"

/** A val that, like the vals it is linked to, no other transaction changes until this one ends. */
export interface LockedVal {
  readonly val: Val
  /** The highest version number it has ever had. */
  readonly versionLast: number
  readonly hasDependencies: boolean
  readonly locks: LinkLocks
}

/**
 * Applies a change to a val. Values that are equal to the current ones change nothing, not even
 * `updatedAt`.
 */
export function* changeVal(
  dialect: Dialect,
  locked: LockedVal,
  change: ValChange,
  at: number,
  depth: number,
): Script<SavedVal> {
  const { val: before, locks } = locked
  const source = change.source && change.source.code !== before.code ? change.source : undefined
  const after = applyChange(
    before,
    change,
    source && { code: source.code, version: locked.versionLast + 1, versionCreatedAt: at },
    at,
  )
  if (!source && isSame(before, after)) return { val: before, isNewVersion: false }
  if (after.name.toLowerCase() !== before.name.toLowerCase())
    yield* assertNameIsFree(before, after.name)
  // The references from this val are uncounted before the change and counted again after it.
  if (before.privacy === "public" && after.privacy !== "public")
    yield* countOutgoing(locks, before.id, -1)
  yield writeVal(before, after, Math.max(after.version, locked.versionLast))
  if (source) {
    yield sql`insert into versions (val_id, version, code, created_at) values (${after.id}, ${after.version}, ${after.code}, ${at})`
    yield* insertImports(before, after.version, source.imports)
    if (source.isRemote) yield insertLockfile(after.id, after.version, at)
  }
  const isRelinked = source !== undefined && (source.imports.length > 0 || locked.hasDependencies)
  const { referenceCount, targets } = yield* relink(locks, before, after, isRelinked, at)
  yield writeSearchText(dialect, after)
  yield* emitSaved(dialect, after, source ? "version" : "settings", depth)
  yield* emitReferenced(dialect, after, targets, depth)
  if (after.privacy === "public" && before.privacy !== "public")
    yield* emitPublished(dialect, after, depth)
  const val = referenceCount === after.referenceCount ? after : { ...after, referenceCount }
  return { val, isNewVersion: source !== undefined }
}

/** Writes the search text of a val. */
export function writeSearchText(
  dialect: Dialect,
  { id, privacy, name, code, readme }: Val,
): LastStep {
  const toText = () => ({
    valId: id,
    isPublic: privacy === "public",
    name: foldText(name),
    body: foldBody(code, readme),
  })
  return { key: id, run: () => dialect.search.replace(toText()) }
}

type NewVersion = Pick<Val, "code" | "version" | "versionCreatedAt">

function applyChange(
  before: Val,
  change: ValChange,
  version: NewVersion | undefined,
  at: number,
): Val {
  return {
    ...before,
    ...version,
    updatedAt: at,
    name: change.name ?? before.name,
    privacy: change.privacy ?? before.privacy,
    type: change.type ?? before.type,
    readme: change.readme === undefined ? before.readme : change.readme,
  }
}

function isSame(before: Val, after: Val): boolean {
  return (
    before.name === after.name &&
    before.privacy === after.privacy &&
    before.type === after.type &&
    before.readme === after.readme
  )
}

function* assertNameIsFree(val: Val, name: string): Script<void> {
  const other = yield* firstRow(
    sql`select id from vals where owner_id = ${val.ownerId} and name_key = ${name.toLowerCase()}`,
  )
  if (other) throw nameTaken(name)
}

/** The error for a name that another val of the owner has. */
function nameTaken(name: string): AppError {
  return new AppError(
    "name_taken",
    `Cannot rename the val to "${name}": you already have one with that name`,
  )
}

// Without `returning`, for which SQLite would begin a nested transaction.
function writeVal(before: Val, after: Val, versionLast: number): Statement {
  // SQLite rewrites each index that contains a column of the `set` list, even if its value stays the
  // same. A save of code alone sets no indexed column.
  const described = isSame(before, after)
    ? nothing
    : sql`name = ${after.name}, name_key = ${after.name.toLowerCase()}, privacy = ${after.privacy}, type = ${after.type}, readme = ${after.readme},`
  return sql`update vals set ${described} updated_at = ${after.updatedAt}, version = ${after.version}, version_last = ${versionLast}
    where id = ${after.id}`
}

/** Returns the new reference count of the val, and the vals that it did not depend on before. */
function* relink(
  locks: LinkLocks,
  before: Val,
  after: Val,
  isRelinked: boolean,
  at: number,
): Script<{ readonly referenceCount: number; readonly targets: readonly AddedTarget[] }> {
  const isPublic = after.privacy === "public"
  const linked = {
    id: after.id,
    ownerId: after.ownerId,
    version: after.version,
    isPublic: isPublic && before.privacy === "public",
  }
  const targets = isRelinked ? yield* relinkOutgoing(locks, linked, at) : []
  if (isPublic && before.privacy !== "public") yield* countOutgoing(locks, after.id, 1)
  if (after.name.toLowerCase() === before.name.toLowerCase())
    return { referenceCount: before.referenceCount, targets }
  const name = toNameKey(after.ownerName, after.name)
  return { referenceCount: yield* relinkIncoming(locks, linked, name, at), targets }
}
