import { readmePath } from "@hamlet/contract/entry-file"
import {
  type Dialect,
  firstRow,
  inBatches,
  join,
  type LastStep,
  type Script,
  type Statement,
  sql,
} from "@hamlet/database"
import type { Cause } from "../../domain/call-depth.ts"
import { mainBranch } from "../../domain/modules/import-address.ts"
import { entryPath } from "../../domain/modules/module-url.ts"
import type { ImportedHistory, ImportedVersion } from "../../domain/vals/imported-history.ts"
import type { AddressFiles, NewVal } from "../../domain/vals/vals.ts"
import { emitReferenced, emitSaved } from "../events/val-events.ts"
import {
  type ChangedFile,
  type CopiedFile,
  insertBranch,
  type NewVersion,
  type NextVersion,
  writeVersion,
} from "../files/write-version.ts"
import { addToForkCount, pinImports, relinkIncoming, relinkOutgoing } from "../references/links.ts"
import { lockNames, lockVals, type NameKey, toNameKey } from "../references/row-locks.ts"
import { type SearchedFiles, toSearchedFiles, writeFileTexts } from "../search/file-texts.ts"
import { foldBody, foldText } from "../search/fold-text.ts"
import { toSearchedPath } from "./changes/change-val.ts"

/** The versions that a val begins with, oldest first; without any, it begins without files. */
interface Beginning extends Pick<ImportedHistory, "versions" | "createdAt" | "updatedAt"> {
  /** Files of another val that it also has from its first version on. */
  readonly copied?: CopiedFiles | undefined
}

/** Files of a version that another val gets, and where its code is. */
export interface CopiedFiles {
  readonly branchId: string
  /** Undefined if there is no code. */
  readonly entryPath: string | undefined
  readonly files: readonly CopiedFile[]
  /** The vals that they import. */
  readonly imports: readonly NameKey[]
  readonly addresses: AddressFiles
}

/**
 * Inserts a new val with its versions, links and search text. False when its owner already has a val
 * with that name.
 */
export function* insertVal(
  dialect: Dialect,
  val: Omit<NewVal, "source">,
  beginning: Beginning,
  at: number,
  cause: Cause,
): Script<boolean> {
  const { versions, createdAt, updatedAt, copied } = beginning
  const next = toNextVersion(val, beginning)
  const { version } = next
  const source = versions.at(-1)?.source ?? { code: "", imports: [] }
  const imports = [...source.imports, ...(copied?.imports ?? [])]
  const name = toNameKey(val.ownerName, val.name)
  const origin = val.forkOf?.id
  const ownId = versions.length > 0 ? val.id : null
  const addresses = copied?.addresses ?? { endpointFileId: ownId, mailFileId: ownId }
  yield* lockNames(dialect, [name, ...imports])
  const inserted = yield* firstRow`
    insert into vals (id, owner_id, name, name_key, description, image_url, privacy, created_at, updated_at, forked_from_id, forked_from_version, endpoint_file_id, mail_file_id)
    values (${val.id}, ${val.ownerId}, ${val.name}, ${name.name}, ${val.description ?? null}, ${val.imageUrl ?? null}, ${val.privacy}, ${createdAt}, ${updatedAt},
      ${origin ?? null}, ${val.forkOf?.version ?? null}, ${addresses.endpointFileId}, ${addresses.mailFileId})
    on conflict (owner_id, name_key) do nothing returning id`
  if (!inserted) return false
  yield insertBranch({ id: val.id, valId: val.id, name: mainBranch, createdAt })
  yield* writeVersion(dialect, val, next, cause.actorId, at)
  if (copied) yield pinImports(val, sql`imports.since = ${version}`)
  const isPublic = val.privacy === "public"
  const { code } = source
  const { readme, description } = val
  const codePath = copied?.entryPath && toSearchedPath(copied.entryPath)
  yield writeNewText(
    sql`(${val.id}, ${isPublic ? 1 : 0}, ${foldText(val.name)}, ${foldBody({ code, readme, description, codePath })})`,
  )
  const texts = writeFileTexts(dialect, val.id, new Map(), toSearchedCopies(version, copied))
  if (texts) yield texts
  const pinsOf = copied || source.imports.some(({ pin }) => pin) ? [version] : undefined
  const locks = yield* lockVals(dialect, { valId: val.id, imports, name, pinsOf, origin })
  const linked = { id: val.id, ownerId: val.ownerId, version, isPublic }
  yield* relinkIncoming(locks, linked, name, at)
  const targets = imports.length > 0 ? yield* relinkOutgoing(locks, linked, at) : []
  // An original that is not locked was deleted a moment ago.
  if (origin !== undefined && isPublic && locks.has(origin)) yield addToForkCount(origin, 1)
  const saved = { ...val, version }
  const paths = next.added.map(({ path }) => path)
  yield* emitSaved(dialect, saved, { change: "created", paths }, cause.depth)
  yield* emitReferenced(dialect, saved, targets, cause.depth)
  return true
}

function toSearchedCopies(since: number, copied: CopiedFiles | undefined): SearchedFiles {
  const files = copied?.files.map(({ path, type, text }) => ({
    path,
    type,
    since,
    bytes: text.same.bytes,
  }))
  return toSearchedFiles(files ?? [], copied?.entryPath)
}

/** The search texts of new vals, inserted together. */
interface NewTexts extends LastStep {
  readonly rows: Statement[]
}

/**
 * The texts of all new vals of a transaction are inserted in few statements: each statement on that
 * table makes FTS5 flush its index, which takes longer than the rest of a new val. The key sorts
 * before all ids, because a text must be inserted before a later script changes it.
 */
function writeNewText(row: Statement): NewTexts {
  const rows = [row]
  return {
    key: "!new",
    rows,
    takeOver: (earlier) => rows.unshift(...(earlier as NewTexts).rows),
    *run() {
      for (const some of inBatches(rows))
        yield sql`insert into search_texts (val_id, is_public, name, body) values ${join(some, ", ")}`
    },
  }
}

/**
 * What a val begins with; version 0 has no files. The entry file has the id of its val, and the readme and
 * the copies are the same in all versions.
 */
function toNextVersion(
  val: Omit<NewVal, "source">,
  { versions, createdAt, updatedAt, copied }: Beginning,
): NextVersion {
  const [oldest, newest] = [versions[0], versions.at(-1)]
  if (!oldest || !newest) return { ...emptyVersion, createdAt, updatedAt }
  const path = copied ? copied.entryPath : entryPath
  const entry = path === undefined ? undefined : { path, fileId: val.id, type: val.type }
  const others = [...(val.readme === null ? [] : [toReadme(val.readme)]), ...(copied?.files ?? [])]
  const added = entry ? [entry, ...others] : others
  const readmeSince = val.readme === null ? undefined : oldest.version
  const toWritten = (version: ImportedVersion) => {
    const written = toVersion(version, entry, readmeSince)
    return version === oldest ? { ...written, changed: [...written.changed, ...others] } : written
  }
  return {
    ...toWritten(newest),
    earlier: versions.slice(0, -1).map(toWritten),
    copyOf: copied?.branchId,
    updatedAt,
    entryType: entry?.type ?? null,
    added,
    ended: [],
    fileCount: added.filter(({ type }) => type !== "directory").length,
  }
}

const emptyVersion = {
  version: 0,
  entry: undefined,
  entryType: null,
  readmeSince: undefined,
  changed: [],
  added: [],
  ended: [],
  fileCount: 0,
  packages: undefined,
} as const

function toReadme(content: string): ChangedFile {
  const text = { content, imports: [] }
  return { path: readmePath, fileId: Bun.randomUUIDv7(), type: "file", text }
}

/** A version of an imported history: its code is the entry file. */
export function toVersion(
  { version, source, createdAt }: ImportedVersion,
  entry: Omit<ChangedFile, "text"> | undefined,
  readmeSince: number | undefined,
): NewVersion {
  const times = { version, createdAt, readmeSince }
  if (!entry) return { ...times, entry, changed: [], packages: undefined }
  const { path, fileId, type } = entry
  return {
    ...times,
    entry: { path, since: version },
    changed: [{ path, fileId, type, text: { content: source.code, imports: source.imports } }],
    packages: source.lock ?? (source.isRemote ? "fetch" : undefined),
  }
}
