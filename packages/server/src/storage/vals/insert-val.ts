import { readmePath } from "@hamlet/contract/entry-file"
import type { FileType } from "../../domain/files/tree.ts"
import { entryPath } from "../../domain/modules/module-url.ts"
import type { ImportedHistory, ImportedVersion } from "../../domain/vals/imported-history.ts"
import type { AddressFiles, NewVal } from "../../domain/vals/vals.ts"
import { inBatches } from "../database/batch-sizes.ts"
import { firstRow, type LastStep, type Script } from "../database/database.ts"
import type { Dialect } from "../database/dialect.ts"
import { join, type Statement, sql } from "../database/sql.ts"
import { emitReferenced, emitSaved } from "../events/val-events.ts"
import type { FileState } from "../files/branch-rows.ts"
import {
  type ChangedFile,
  type CopiedState,
  copyStates,
  insertFiles,
  insertVersions,
  type NewVersion,
} from "../files/write-version.ts"
import { addToForkCount, pinImports, relinkIncoming, relinkOutgoing } from "../references/links.ts"
import { lockNames, lockVals, type NameKey, toNameKey } from "../references/row-locks.ts"
import { type SearchedFiles, toSearchedFiles, writeFileTexts } from "../search/file-texts.ts"
import { foldBody, foldText } from "../search/fold-text.ts"
import { toSearchedPath } from "./changes/change-val.ts"

/** The versions that a val begins with, oldest first; without any, it begins without files. */
interface Beginning extends Pick<ImportedHistory, "versions" | "createdAt" | "updatedAt"> {
  readonly last: ImportedVersion | undefined
  /** Files of another val that it also has from its first version on. */
  readonly copied?: CopiedFiles | undefined
}

/** Files of a version that another val gets, and where its code is. */
export interface CopiedFiles {
  readonly branchId: string
  /** Undefined if there is no code. */
  readonly entryPath: string | undefined
  readonly files: readonly CopiedState[]
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
  depth: number,
): Script<boolean> {
  const { last, createdAt, updatedAt, copied } = beginning
  const { version, source } = last ?? { version: 0, source: { code: "", imports: [] } }
  const { code } = source
  const isWithCode = last !== undefined && (!copied || copied.entryPath !== undefined)
  const imports = [...source.imports, ...(copied?.imports ?? [])]
  const name = toNameKey(val.ownerName, val.name)
  const origin = val.forkOf?.id
  const ownId = last ? val.id : null
  const addresses = copied?.addresses ?? { endpointFileId: ownId, mailFileId: ownId }
  yield* lockNames(dialect, [name, ...imports])
  const inserted = yield* firstRow`
    insert into vals (id, owner_id, name, name_key, description, image_url, privacy, created_at, updated_at, forked_from_id, forked_from_version, endpoint_file_id, mail_file_id)
    values (${val.id}, ${val.ownerId}, ${val.name}, ${name.name}, ${val.description ?? null}, ${val.imageUrl ?? null}, ${val.privacy}, ${createdAt}, ${updatedAt},
      ${origin ?? null}, ${val.forkOf?.version ?? null}, ${addresses.endpointFileId}, ${addresses.mailFileId})
    on conflict (owner_id, name_key) do nothing returning id`
  if (!inserted) return false
  const size = measure(val, beginning, isWithCode)
  yield sql`insert into branches (id, val_id, name, name_key, version, version_last, entry_type, created_at, updated_at, file_count, bytes)
    values (${val.id}, ${val.id}, 'main', 'main', ${version}, ${version}, ${isWithCode ? val.type : null}, ${createdAt}, ${updatedAt}, ${size.files}, ${size.bytes})`
  yield* last ? insertBeginning(dialect, val, beginning, at) : insertEmpty(dialect, val, at)
  const isPublic = val.privacy === "public"
  const { readme, description } = val
  const codePath = copied?.entryPath && toSearchedPath(copied.entryPath)
  yield writeNewText(
    sql`(${val.id}, ${isPublic ? 1 : 0}, ${foldText(val.name)}, ${foldBody({ code, readme, description, codePath })})`,
  )
  const texts = writeFileTexts(dialect, val.id, new Map(), toSearchedCopies(copied))
  if (texts) yield texts
  const pinsOf = copied || source.imports.some(({ pin }) => pin) ? [version] : undefined
  const locks = yield* lockVals(dialect, { valId: val.id, imports, name, pinsOf, origin })
  const linked = { id: val.id, ownerId: val.ownerId, version, isPublic }
  yield* relinkIncoming(locks, linked, name, at)
  const targets = imports.length > 0 ? yield* relinkOutgoing(locks, linked, at) : []
  // An original that is not locked was deleted a moment ago.
  if (origin !== undefined && isPublic && locks.has(origin)) yield addToForkCount(origin, 1)
  const saved = { ...val, version }
  const paths = [
    ...(isWithCode ? [copied?.entryPath ?? entryPath] : []),
    ...(last && readme !== null ? [readmePath] : []),
    ...(copied?.files.map(({ path }) => path) ?? []),
  ]
  yield* emitSaved(dialect, saved, { change: "created", paths }, depth)
  yield* emitReferenced(dialect, saved, targets, depth)
  return true
}

/** The files of the last version, and the bytes of all texts. */
function measure(
  { readme }: Pick<NewVal, "readme">,
  { versions, last, copied }: Beginning,
  isWithCode: boolean,
): { readonly files: number; readonly bytes: number } {
  const others = copied?.files.filter(({ type }) => type !== "directory") ?? []
  const texts = isWithCode ? versions.map(({ source }) => source.code) : []
  const readmes = last && readme !== null ? [readme] : []
  const own = [...texts, ...readmes].reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  return {
    files: Number(isWithCode) + readmes.length + others.length,
    bytes: own + others.reduce((sum, { same }) => sum + same.bytes, 0),
  }
}

function toSearchedCopies(copied: CopiedFiles | undefined): SearchedFiles {
  const files = copied?.files.flatMap(({ type, same, ...file }) =>
    type === null ? [] : [{ ...file, type, bytes: same.bytes }],
  )
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

/** The entry file has the id of its val, and the readme is the same in all versions. */
function* insertBeginning(
  dialect: Dialect,
  val: Omit<NewVal, "source">,
  { versions, copied }: Beginning,
  at: number,
): Script<void> {
  const path = copied ? copied.entryPath : entryPath
  const entry = path === undefined ? undefined : { path, fileId: val.id }
  const readme = val.readme === null ? undefined : { path: readmePath, fileId: Bun.randomUUIDv7() }
  yield* insertFiles(
    val.id,
    [entry, readme].filter((file) => file !== undefined),
  )
  const readmeSince = readme && versions[0]?.version
  const [first, ...rest] = versions.map((version) =>
    entry
      ? toVersion(version, entry, val.type, readmeSince)
      : {
          ...withoutFiles,
          ...{ version: version.version, createdAt: version.createdAt, readmeSince },
        },
  )
  if (!first) return
  const readmes: readonly ChangedFile[] = readme
    ? [{ ...readme, type: "file", text: { content: val.readme ?? "", imports: [] } }]
    : []
  const all = [{ ...first, changed: [...first.changed, ...readmes] }, ...rest]
  yield* insertVersions(dialect, val, all, at)
  if (!copied) return
  yield* insertFiles(val.id, copied.files)
  yield* copyStates(dialect, { from: copied.branchId, to: val.id }, copied.files)
  yield pinImports(val, sql`imports.since = ${first.version}`)
}

const withoutFiles = {
  ...{ entry: undefined, readmeSince: undefined, packages: undefined },
  changed: [] as readonly ChangedFile[],
}

function insertEmpty(dialect: Dialect, val: Omit<NewVal, "source">, at: number): Script<void> {
  return insertVersions(dialect, val, [{ version: 0, createdAt: at, ...withoutFiles }], at)
}

/** A version of an imported history: its code is the entry file. */
export function toVersion(
  { version, source, createdAt }: ImportedVersion,
  { path, fileId }: Pick<FileState, "path" | "fileId">,
  type: FileType,
  readmeSince: number | undefined,
): NewVersion {
  return {
    ...{ version, createdAt, readmeSince, entry: { path, since: version } },
    changed: [{ path, fileId, type, text: { content: source.code, imports: source.imports } }],
    packages: source.lock ?? (source.isRemote ? "fetch" : undefined),
  }
}
