import { toValNameKey } from "@hamlet/contract"
import { readmePath } from "@hamlet/contract/entry-file"
import {
  type Dialect,
  firstRow,
  type LastStep,
  type Script,
  type Statement,
  sql,
} from "@hamlet/database"
import { AppError } from "../../../domain/app-error.ts"
import type { Cause } from "../../../domain/call-depth.ts"
import { emptyTree, settleAddresses } from "../../../domain/files/addresses.ts"
import { changeTree } from "../../../domain/files/change-tree.ts"
import { createTree, isCode, type PathState } from "../../../domain/files/tree.ts"
import { entryPath } from "../../../domain/modules/module-url.ts"
import type { ValSource } from "../../../domain/vals/val-source.ts"
import type { AddressFiles, SavedVal, Val, ValChange } from "../../../domain/vals/vals.ts"
import { emitPublished, emitReferenced, emitSaved } from "../../events/val-events.ts"
import { type MainBranch, readPaths } from "../../files/branch-rows.ts"
import { findPackages } from "../../files/version-packages.ts"
import { type ChangedFile, type VersionPackages, writeVersion } from "../../files/write-version.ts"
import {
  type AddedTarget,
  countOutgoing,
  relinkIncoming,
  relinkOutgoing,
} from "../../references/links.ts"
import { type LinkLocks, toNameKey } from "../../references/row-locks.ts"
import { findSearchIndex } from "../../search/find-search-index.ts"
import { foldBody, foldText } from "../../search/fold-text.ts"
import type { SearchText } from "../../search/search-index.ts"
import type { ChangeableVal } from "./changeable-vals.ts"

/** A val that, like the vals it is linked to, no other transaction changes until this one ends. */
export interface LockedVal extends ChangeableVal {
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
  cause: Cause,
): Script<SavedVal> {
  const { val: before } = locked
  const { source, after, isNewVersion } = planChange(locked, change, at)
  const isNewCode = source !== undefined
  if (!isNewVersion && hasSameSettings(before, after))
    return { val: before, isNewVersion, isNewCode, isRemote: false }
  if (toValNameKey(after.name) !== toValNameKey(before.name))
    yield* assertNameIsFree(before, after.name)
  // The references from this val are uncounted before the change and counted again after it.
  if (before.privacy === "public" && after.privacy !== "public")
    yield* countOutgoing(locked.locks, before.id, -1)
  if (!hasSameSettings(before, after)) yield writeSettings(after)
  const written = isNewVersion
    ? yield* writeEntryAndReadme(dialect, locked, after, source, cause.actorId)
    : undefined
  const isRelinked = source !== undefined && (source.imports.length > 0 || locked.hasDependencies)
  const { paths, isRemote = false } = written ?? {}
  const placed = written ? { ...after, ...written.placed } : after
  const val = yield* noteChange(dialect, locked, placed, { paths, isRelinked }, at, cause)
  return { val, isNewVersion, isNewCode, isRemote }
}

/** A change of a val that nothing has been written of. */
interface PlannedChange {
  readonly after: Val
  readonly isNewVersion: boolean
  /** Code that differs from the current one. */
  readonly source: ValSource | undefined
}

/** What a change makes of a val. */
function planChange(
  { val: before, main }: ChangeableVal,
  change: ValChange,
  at: number,
): PlannedChange {
  const source = change.source && change.source.code !== before.code ? change.source : undefined
  const described = applyChange(before, change, at)
  const isNewVersion = source !== undefined || !hasSameFiles(before, described)
  const isEntryChanged = source !== undefined || described.type !== before.type
  // Clients tell by the time of a file whether it has changed, whatever the clock shows.
  const savedAt = Math.max(at, main.savedAt + 1)
  const after = isNewVersion
    ? {
        ...described,
        code: source?.code ?? before.code,
        version: main.versionLast + 1,
        file: isEntryChanged ? { ...before.file, since: main.versionLast + 1 } : before.file,
        fileCount: countFiles(main, described, isEntryChanged),
        versionCreatedAt: savedAt,
        updatedAt: Math.max(described.updatedAt, savedAt),
      }
    : described
  return { after, isNewVersion, source }
}

/** How many files `main` has when its entry file and its readme are as the val says. */
function countFiles(main: MainBranch, { readme }: Val, isEntryChanged: boolean): number {
  const isEntryNew = isEntryChanged && !main.entry
  const hadReadme = main.readme !== undefined
  return main.fileCount + Number(isEntryNew) + Number(readme !== null) - Number(hadReadme)
}

/** What has been written of a val. */
interface WrittenChange {
  /** The paths that a new version changes; undefined if there is none. */
  readonly paths: readonly string[] | undefined
  readonly isRelinked: boolean
}

/** What depends on a val that has been written: references, search and events. */
export function* noteChange(
  dialect: Dialect,
  { val: before, locks, hasWebhooks }: LockedVal,
  after: Val,
  { paths, isRelinked }: WrittenChange,
  at: number,
  cause: Cause,
): Script<Val> {
  const { referenceCount, targets } = yield* relink(locks, before, after, isRelinked, at)
  yield writeSearchText(dialect, after)
  const change = paths ? "version" : "settings"
  if (hasWebhooks) yield* emitSaved(dialect, after, { change, paths: paths ?? [] }, cause.depth)
  yield* emitReferenced(dialect, after, targets, cause.depth)
  if (after.privacy === "public" && before.privacy !== "public")
    yield* emitPublished(dialect, after, cause.depth)
  return referenceCount === after.referenceCount ? after : { ...after, referenceCount }
}

/** The code and the readme of a val that were written. */
interface WrittenEntry {
  readonly paths: readonly string[]
  /** Whether its packages must be fetched. */
  readonly isRemote: boolean
  /** Where its code is, and which files have its addresses. */
  readonly placed: Pick<Val, "file" | "endpointFileId" | "mailFileId">
}

/** Writes the code and the readme of a val, if they have changed, as the next version of `main`. */
function* writeEntryAndReadme(
  dialect: Dialect,
  locked: LockedVal,
  after: Val,
  source: ValSource | undefined,
  authorId: string | null,
): Script<WrittenEntry> {
  const { val: before, main } = locked
  const { version, versionCreatedAt: createdAt } = after
  const entry = main.entry ?? { path: entryPath, fileId: Bun.randomUUIDv7(), since: version }
  const readme = main.readme ?? { path: readmePath, fileId: Bun.randomUUIDv7(), since: version }
  const isEntryChanged = source !== undefined || after.type !== before.type
  const isReadmeChanged = after.readme !== before.readme
  // A file that is code by its name only stays that.
  const entryType = after.type === before.type ? (main.entry?.type ?? after.type) : after.type
  const changed: ChangedFile[] = []
  if (isEntryChanged)
    changed.push({
      path: entry.path,
      fileId: entry.fileId,
      type: entryType,
      text: source
        ? { content: source.code, imports: source.imports }
        : main.entry
          ? { same: { ...main.entry, bytes: Buffer.byteLength(before.code) } }
          : { content: "", imports: [] },
    })
  if (isReadmeChanged)
    changed.push({
      path: readmePath,
      fileId: readme.fileId,
      type: after.readme === null ? null : "file",
      text: after.readme === null ? undefined : { content: after.readme, imports: [] },
    })
  const added = changed.filter(
    ({ fileId }) => fileId !== main.entry?.fileId && fileId !== main.readme?.fileId,
  )
  if (added.length > 0) yield* assertFree(before, added)
  const packages = yield* findCodePackages(locked, source)
  const next = {
    version,
    createdAt,
    changed,
    added,
    ended: [],
    entryType,
    fileCount: after.fileCount,
    entry: isEntryChanged ? { path: entry.path, since: version } : main.entry,
    readmeSince: isReadmeChanged
      ? after.readme === null
        ? undefined
        : version
      : main.readme?.since,
    packages,
  }
  yield* writeVersion(dialect, before, next, authorId, createdAt)
  const file = { ...after.file, id: main.entry?.fileId ?? after.file.id }
  const written = isEntryChanged ? { ...file, id: entry.fileId, path: entry.path } : file
  const addresses = yield* placeEntry(
    before,
    main,
    isEntryChanged ? { ...entry, type: entryType } : undefined,
  )
  return {
    paths: changed.map(({ path }) => path),
    isRemote: packages === "fetch",
    placed: { file: written, ...addresses },
  }
}

/** Gives the addresses of the val that no file has had to its code. */
function* placeEntry(
  val: Val,
  { entry: before }: MainBranch,
  after: MainBranch["entry"],
): Script<AddressFiles> {
  const toTree = (entry: MainBranch["entry"]) => (entry ? { entry, files: [entry] } : emptyTree)
  const settled = settleAddresses(val, toTree(before), toTree(after ?? before))
  yield* writeAddresses(val, settled)
  return settled
}

/** The packages of files that stay as they are stay too. */
function* findCodePackages(
  { val, main, hasLockfile, hasConfig }: LockedVal,
  source: ValSource | undefined,
): Script<VersionPackages> {
  if (!source) return hasLockfile ? { of: val.version } : undefined
  if (!hasLockfile && !hasConfig) return source.isRemote ? "fetch" : undefined
  const listPackages = source.listPackages ?? (() => (source.isRemote ? undefined : []))
  const decision = yield* findPackages(
    { ...val, mayHaveConfig: hasConfig, mayHaveLockfile: hasLockfile },
    [
      {
        path: main.entry?.path ?? entryPath,
        isEnd: false,
        from: undefined,
        text: { code: source.code, listPackages },
      },
    ],
    new Map(),
  )
  if (decision === "none") return undefined
  if (decision !== "keep") return decision
  const isOther = ({ fileId, type }: PathState) => isCode(type) && fileId !== main.entry?.fileId
  return (yield* readPaths(val.id, val.version)).some(isOther) ? { of: val.version } : undefined
}

/** Throws if other files are in the way of a new one. */
export function* assertFree(
  { id, version }: Val,
  added: readonly Pick<ChangedFile, "path">[],
): Script<void> {
  const tree = createTree(yield* readPaths(id, version))
  const puts = added.map(({ path }) => ({ kind: "put", path, type: "file", isNew: true }) as const)
  changeTree(tree, puts, Bun.randomUUIDv7)
}

/** Writes to which files the addresses of a val lead, if that was not known. */
export function* writeAddresses(
  val: AddressFiles & { readonly id: string },
  { endpointFileId, mailFileId }: AddressFiles,
): Script<void> {
  if (endpointFileId !== val.endpointFileId || mailFileId !== val.mailFileId)
    yield sql`update vals set endpoint_file_id = ${endpointFileId}, mail_file_id = ${mailFileId} where id = ${val.id}`
}

/** Writes the search text of a val. */
export function writeSearchText(dialect: Dialect, val: Val): LastStep {
  return { key: val.id, run: () => findSearchIndex(dialect).replace(toSearchText(val)) }
}

/** The search text of a val itself. */
function toSearchText(val: Val): SearchText {
  const { id, privacy, name, code, readme, description, file } = val
  const codePath = toSearchedPath(file.path)
  return {
    valId: id,
    isPublic: privacy === "public",
    name: foldText(name),
    body: foldBody({ code, readme, description, codePath }),
  }
}

/** Every val would be found by the usual path. */
export function toSearchedPath(path: string): string | undefined {
  return path === entryPath ? undefined : path
}

function applyChange(before: Val, change: ValChange, at: number): Val {
  return {
    ...before,
    updatedAt: Math.max(at, before.updatedAt),
    name: change.name ?? before.name,
    description: change.description === undefined ? before.description : change.description,
    imageUrl: change.imageUrl === undefined ? before.imageUrl : change.imageUrl,
    privacy: change.privacy ?? before.privacy,
    type: change.type ?? before.type,
    readme: change.readme === undefined ? before.readme : change.readme,
  }
}

function hasSameSettings(before: Val, after: Val): boolean {
  return (
    before.name === after.name &&
    before.privacy === after.privacy &&
    before.description === after.description &&
    before.imageUrl === after.imageUrl
  )
}

/** The type is that of the entry file, and the readme is a file. */
function hasSameFiles(before: Val, after: Val): boolean {
  return before.type === after.type && before.readme === after.readme
}

function* assertNameIsFree(val: Val, name: string): Script<void> {
  const other = yield* firstRow`
    select id from vals where owner_id = ${val.ownerId} and name_key = ${toValNameKey(name)}`
  if (other) throw nameTaken(name)
}

/** The error for a name that another val of the owner has. */
function nameTaken(name: string): AppError {
  return new AppError(
    "name_taken",
    `Cannot rename the val to "${name}": you already have one with that name`,
  )
}

/** The time of a save of files is that of its branch, so such a save does not write the val. */
function writeSettings(val: Val): Statement {
  const { id, name, privacy, description, imageUrl, updatedAt } = val
  return sql`update vals set name = ${name}, name_key = ${toValNameKey(name)}, privacy = ${privacy}, description = ${description},
    image_url = ${imageUrl}, updated_at = ${updatedAt} where id = ${id}`
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
  if (toValNameKey(after.name) === toValNameKey(before.name))
    return { referenceCount: before.referenceCount, targets }
  const name = toNameKey(after.ownerName, after.name)
  return { referenceCount: yield* relinkIncoming(locks, linked, name, at), targets }
}
