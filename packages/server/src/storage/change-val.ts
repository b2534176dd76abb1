import { AppError } from "../domain/app-error.ts"
import type { SavedVal, Val, ValChange } from "../domain/vals.ts"
import { firstRow, type Script } from "./database.ts"
import { countOutgoing, insertImports, relinkIncoming, relinkOutgoing } from "./dependencies.ts"
import { foldBody, foldText } from "./fold-text.ts"
import { type LinkLocks, toNameKey } from "./link-locks.ts"
import { nothing, sql } from "./sql.ts"

/** Applies a change to a val that is locked. What equals what is there already changes nothing, not even `updatedAt`. */
export function* changeVal(locks: LinkLocks, before: Val, change: ValChange, at: number): Script<SavedVal> {
  const source = change.source && change.source.code !== before.code ? change.source : undefined
  const after = applyChange(before, change)
  if (!source && isSame(before, after)) return { val: before, isNewVersion: false }
  if (after.name.toLowerCase() !== before.name.toLowerCase()) yield* assertNameIsFree(before, after.name)
  // Whatever is counted of this val is taken out first and put back in at the end, as the val is then.
  if (before.privacy === "public" && after.privacy !== "public") yield* countOutgoing(locks, before.id, -1)
  const version = yield* writeVal(before, after, source !== undefined, at)
  if (source) {
    yield sql`insert into versions (val_id, version, code, created_at) values (${before.id}, ${version}, ${source.code}, ${at})`
    yield* insertImports(before.id, version, source.imports)
  }
  const referenceCount = yield* relink(locks, before, { ...after, version }, source !== undefined, at)
  const code = source?.code ?? before.code
  yield* writeSearchText({ ...after, code })
  const versionCreatedAt = source ? at : before.versionCreatedAt
  return { val: { ...after, code, version, versionCreatedAt, referenceCount, updatedAt: at }, isNewVersion: source !== undefined }
}

/** Writes what search looks through. */
export function* writeSearchText(val: Pick<Val, "id" | "privacy" | "name" | "code" | "readme">): Script<void> {
  yield sql`update search_texts set is_public = ${val.privacy === "public" ? 1 : 0}, name = ${foldText(val.name)},
    body = ${foldBody(val.code, val.readme)} where val_id = ${val.id}`
}

function applyChange(before: Val, change: ValChange): Val {
  return {
    ...before,
    name: change.name ?? before.name,
    privacy: change.privacy ?? before.privacy,
    type: change.type ?? before.type,
    readme: change.readme === undefined ? before.readme : change.readme,
  }
}

function isSame(before: Val, after: Val): boolean {
  return before.name === after.name && before.privacy === after.privacy && before.type === after.type && before.readme === after.readme
}

function* assertNameIsFree(val: Val, name: string): Script<void> {
  const other = yield* firstRow(sql`select id from vals where owner_id = ${val.ownerId} and name_key = ${name.toLowerCase()}`)
  if (other) throw nameTaken(name)
}

/** The error for a name that another val of the same owner has. */
function nameTaken(name: string): AppError {
  return new AppError("name_taken", `Cannot rename the val to "${name}": you already have one with that name`)
}

/** Gives the number of the version that is then current. */
function* writeVal(before: Val, after: Val, isNewVersion: boolean, at: number): Script<number> {
  const step = isNewVersion ? 1 : 0
  // SQLite writes every index anew that has a column which is set, whether or not its value changes; new code alone is in none of them.
  const described = isSame(before, after)
    ? nothing
    : sql`name = ${after.name}, name_key = ${after.name.toLowerCase()}, privacy = ${after.privacy}, type = ${after.type}, readme = ${after.readme},`
  const row = yield* firstRow<{ version: number }>(sql`
    update vals set ${described} updated_at = ${at}, version_last = version_last + ${step},
      version = case when ${step} = 1 then version_last + 1 else version end
    where id = ${after.id} returning version`)
  return row?.version ?? after.version
}

/** Gives how many references the val then has. */
function* relink(locks: LinkLocks, before: Val, after: Val, isNewVersion: boolean, at: number): Script<number> {
  const isPublic = after.privacy === "public"
  const linked = { id: after.id, ownerId: after.ownerId, version: after.version, isPublic: isPublic && before.privacy === "public" }
  if (isNewVersion) yield* relinkOutgoing(locks, linked, at)
  if (isPublic && before.privacy !== "public") yield* countOutgoing(locks, after.id, 1)
  if (after.name.toLowerCase() === before.name.toLowerCase()) return before.referenceCount
  return yield* relinkIncoming(locks, linked, toNameKey(after.ownerName, after.name), at)
}
