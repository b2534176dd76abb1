import { AppError } from "../../domain/app-error.ts"
import { entryPath } from "../../domain/modules/module-url.ts"
import type { ValSource } from "../../domain/vals/val-source.ts"
import type { SavedVal, Val, ValChange } from "../../domain/vals/vals.ts"
import { firstRow, type LastStep, type Script } from "../database/database.ts"
import type { Dialect } from "../database/dialect.ts"
import { nothing, type Statement, sql } from "../database/sql.ts"
import { emitPublished, emitReferenced, emitSaved } from "../events/val-events.ts"
import {
  type AddedTarget,
  countOutgoing,
  relinkIncoming,
  relinkOutgoing,
} from "../references/links.ts"
import { type LinkLocks, toNameKey } from "../references/row-locks.ts"
import { foldBody, foldText } from "../search/fold-text.ts"
import { type MainBranch, readmePath } from "./branch-rows.ts"
import { type ChangedFile, insertFiles, insertVersions } from "./write-version.ts"

/** A val that, like the vals it is linked to, no other transaction changes until this one ends. */
export interface LockedVal {
  readonly val: Val
  readonly main: MainBranch
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
  const { val: before, main, locks } = locked
  const source = change.source && change.source.code !== before.code ? change.source : undefined
  const described = applyChange(before, change, at)
  const isNewVersion = source !== undefined || !hasSameFiles(before, described)
  const isEntryChanged = source !== undefined || described.type !== before.type
  const after = isNewVersion
    ? {
        ...described,
        ...{ code: source?.code ?? before.code, version: main.versionLast + 1 },
        file: isEntryChanged ? { ...before.file, since: main.versionLast + 1 } : before.file,
        versionCreatedAt: at,
      }
    : described
  const isNewCode = source !== undefined
  if (!isNewVersion && hasSameSettings(before, after))
    return { val: before, isNewVersion, isNewCode }
  if (after.name.toLowerCase() !== before.name.toLowerCase())
    yield* assertNameIsFree(before, after.name)
  // The references from this val are uncounted before the change and counted again after it.
  if (before.privacy === "public" && after.privacy !== "public")
    yield* countOutgoing(locks, before.id, -1)
  yield writeVal(before, after)
  if (isNewVersion) yield* writeVersion(dialect, locked, after, source, at)
  const isRelinked = source !== undefined && (source.imports.length > 0 || locked.hasDependencies)
  const { referenceCount, targets } = yield* relink(locks, before, after, isRelinked, at)
  yield writeSearchText(dialect, after)
  yield* emitSaved(dialect, after, isNewVersion ? "version" : "settings", depth)
  yield* emitReferenced(dialect, after, targets, depth)
  if (after.privacy === "public" && before.privacy !== "public")
    yield* emitPublished(dialect, after, depth)
  const val = referenceCount === after.referenceCount ? after : { ...after, referenceCount }
  return { val, isNewVersion, isNewCode }
}

/** Writes the files of a val that have changed, as the next version of its main branch. */
function* writeVersion(
  dialect: Dialect,
  { val: before, main }: LockedVal,
  after: Val,
  source: ValSource | undefined,
  at: number,
): Script<void> {
  const { version } = after
  const entry = main.entry ?? { path: entryPath, fileId: Bun.randomUUIDv7(), since: version }
  const readme = main.readme ?? { path: readmePath, fileId: Bun.randomUUIDv7(), since: version }
  const isEntryChanged = source !== undefined || after.type !== before.type
  const isReadmeChanged = after.readme !== before.readme
  const changed: ChangedFile[] = []
  if (isEntryChanged)
    changed.push({
      ...{ path: entry.path, fileId: entry.fileId, type: after.type, content: after.code },
      imports: source?.imports ?? { same: entry },
    })
  if (isReadmeChanged)
    changed.push({
      ...{ path: readmePath, fileId: readme.fileId, imports: [], content: after.readme },
      type: after.readme === null ? null : "file",
    })
  yield* insertFiles(after.id, [
    ...(main.entry || !isEntryChanged ? [] : [entry]),
    ...(main.readme || after.readme === null ? [] : [readme]),
  ])
  yield sql`update branches set version = ${version}, version_last = ${version}, updated_at = ${at},
    entry_type = ${after.type} where id = ${after.id}`
  yield* insertVersions(
    dialect,
    before,
    [
      {
        ...{ version, createdAt: at, changed },
        entry: isEntryChanged ? { path: entry.path, since: version } : main.entry,
        readmeSince: isReadmeChanged
          ? after.readme === null
            ? undefined
            : version
          : main.readme?.since,
        packages: source ? (source.isRemote ? "fetch" : undefined) : { of: before.version },
      },
    ],
    at,
  )
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

function applyChange(before: Val, change: ValChange, at: number): Val {
  return {
    ...before,
    updatedAt: at,
    name: change.name ?? before.name,
    privacy: change.privacy ?? before.privacy,
    type: change.type ?? before.type,
    readme: change.readme === undefined ? before.readme : change.readme,
  }
}

function hasSameSettings(before: Val, after: Val): boolean {
  return before.name === after.name && before.privacy === after.privacy
}

/** The type is that of the entry file, and the readme is a file. */
function hasSameFiles(before: Val, after: Val): boolean {
  return before.type === after.type && before.readme === after.readme
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
function writeVal(before: Val, after: Val): Statement {
  // SQLite rewrites each index that contains a column of the `set` list, even if its value stays the
  // same. A save of files alone sets no indexed column.
  const described = hasSameSettings(before, after)
    ? nothing
    : sql`name = ${after.name}, name_key = ${after.name.toLowerCase()}, privacy = ${after.privacy},`
  return sql`update vals set ${described} updated_at = ${after.updatedAt} where id = ${after.id}`
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
