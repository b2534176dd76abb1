import { BackupDamaged, type BackupHeader, type BackupSummary } from "@hamlet/contract/backup"
import { AppError } from "../../../domain/app-error.ts"
import type { ContentStore } from "../../blobs/content-store.ts"
import { firstId } from "../../database/pagination.ts"
import { raw, sql } from "../../database/sql.ts"
import { migrations } from "../../migrations/index.ts"
import { foldBody, foldText } from "../../search/fold-text.ts"
import { backupTables, ownerDatabases } from "../backup-tables.ts"
import { checkFile, type Frame, readFrames } from "../format/frame-reader.ts"
import { type TableColumn, toRows } from "../format/row-values.ts"
import {
  type ContentLoader,
  createBucketLoader,
  createChunkLoader,
  createOwnerDatabaseLoader,
} from "./content-loader.ts"
import { type Loader, RestoreRefused } from "./loader.ts"
import type { RestoreFiles } from "./restore-files.ts"
import { createRowChange } from "./restored-rows.ts"

/** The server that a backup is restored into. */
export interface RestoreTarget {
  readonly loader: Loader
  readonly files: RestoreFiles
  readonly bucket: ContentStore | undefined
}

/** The progress of a restore. */
export interface RestoreProgress {
  readonly step: "check" | "load" | "index" | "verify"
  readonly done: number
  readonly total: number
}

/** The result of a restore. */
export interface Restored {
  readonly summary: BackupSummary
  /** The number of items of each section. */
  readonly sections: Readonly<Record<string, number>>
  readonly ownerDatabases: number
}

export interface RestoreOptions {
  readonly signal: AbortSignal
  report(progress: RestoreProgress): void
}

/** The oldest schema version that a backup can have. */
const schemaVersionMin = 3

/**
 * Restores a backup into an empty server. The file is read twice: first it is checked completely,
 * then it is loaded. Nothing is visible before the end.
 */
export async function restoreBackup(
  path: string,
  target: RestoreTarget,
  options: RestoreOptions,
): Promise<Restored> {
  const { loader, files } = target
  const summary = await checkFile(path, (done, total) => {
    options.signal.throwIfAborted()
    options.report({ step: "check", done, total })
  })
  assertSupported(summary.header)
  const obstacle = await loader.findObstacle()
  if (obstacle !== undefined) throw new RestoreRefused(obstacle)
  files.begin()
  const objectIds = new Map<string, string>()
  try {
    await loader.begin(summary.header.schemaVersion)
    const restored = await load(path, target, summary, objectIds, options)
    files.placeOwnerDatabases()
    await loader.commit()
    files.end()
    return restored
  } catch (error) {
    await loader.abort().catch(() => {})
    files.abort()
    for (const id of objectIds.values()) await target.bucket?.remove(id).catch(() => {})
    throw error
  }
}

function assertSupported({ schemaVersion, serverVersion, sections }: BackupHeader): void {
  const newest = migrations.at(-1)?.version ?? 0
  if (schemaVersion > newest)
    throw new RestoreRefused(
      `a newer version of Hamlet, ${serverVersion}, has written it (its schema is ${schemaVersion}, this version knows up to ${newest})`,
    )
  if (schemaVersion < schemaVersionMin)
    throw new RestoreRefused(
      `its schema is ${schemaVersion}, but the schema of a backup is at least ${schemaVersionMin}`,
    )
  const names = sections.map(({ name }) => name)
  const unknown = names.find(
    (name) =>
      name !== ownerDatabases &&
      (!Object.hasOwn(backupTables, name) || backupTables[name]?.kind === "none"),
  )
  if (unknown !== undefined) throw new RestoreRefused(`it contains an unknown section "${unknown}"`)
  if (new Set(names).size !== names.length) throw new BackupDamaged("it contains a section twice")
}

async function load(
  path: string,
  target: RestoreTarget,
  summary: BackupSummary,
  objectIds: Map<string, string>,
  { signal, report }: RestoreOptions,
): Promise<Restored> {
  const { loader, files, bucket } = target
  const { header, trailer } = summary
  const owners = createOwnerDatabaseLoader(loader, files.besideFolder)
  const objects = bucket ? createBucketLoader(loader, bucket, objectIds) : createChunkLoader(loader)
  const loads = await planLoads(loader, header, { objects, owners }, objectIds)
  // Rows that migrations have inserted are in the backup too.
  for (const { name } of header.sections)
    if (backupTables[name]?.kind === "rows") await loader.run(raw(`delete from ${name}`))
  let items = 0
  for await (const frame of readFrames(path)) {
    signal.throwIfAborted()
    await loads[frame.section]?.add(frame)
    items += frame.items
    report({ step: "load", done: items, total: trailer.items })
  }
  for (const section of loads) await section.end()
  for (const { version, appliedAt } of header.migrations)
    await loader.run(
      sql`update schema_migrations set applied_at = ${appliedAt} where version = ${version}`,
    )
  const sections = Object.fromEntries(trailer.sections.map(({ name, items }) => [name, items]))
  await loadSearchTexts(loader, (done) => {
    signal.throwIfAborted()
    report({ step: "index", done, total: sections.vals ?? 0 })
  })
  await translate("", () => loader.finish(signal))
  await verify(loader, sections, report)
  return { summary, sections, ownerDatabases: owners.count }
}

async function planLoads(
  loader: Loader,
  header: BackupHeader,
  content: { readonly objects: ContentLoader; readonly owners: ContentLoader },
  objectIds: ReadonlyMap<string, string>,
): Promise<readonly ContentLoader[]> {
  const found = await loader.run<{
    table_name: string
    column_name: string
    type: TableColumn["type"]
  }>(loader.dialect.columns)
  const tables = Map.groupBy(found, ({ table_name }) => table_name)
  return header.sections.map(({ name, columns = [] }) => {
    if (name === ownerDatabases) return content.owners
    if (backupTables[name]?.kind === "objects") return content.objects
    const types = new Map(
      (tables.get(name) ?? []).map((column) => [column.column_name, column.type]),
    )
    const typed = columns.flatMap((column) => ({
      name: column,
      type: types.get(column) ?? "unknown",
    }))
    if (
      types.size === 0 ||
      typed.some(({ type }) => type === "unknown") ||
      new Set(columns).size !== types.size ||
      columns.length !== types.size
    )
      throw new RestoreRefused(
        `the columns of its section "${name}" differ from those of the table at schema ${header.schemaVersion}`,
      )
    return createTableLoader(loader, name, typed as readonly TableColumn[], objectIds)
  })
}

function createTableLoader(
  loader: Loader,
  table: string,
  columns: readonly TableColumn[],
  objectIds: ReadonlyMap<string, string>,
): ContentLoader {
  const names = columns.map(({ name }) => name)
  const objectAt = names.indexOf("object_id")
  const change = createRowChange(table, names, Date.now())
  return {
    async add(frame: Frame) {
      const rows = toRows(frame, table, columns)
      const moved =
        objectAt === -1
          ? rows
          : rows.map((row) => row.with(objectAt, moveObject(row[objectAt] ?? null, objectIds)))
      await translate(table, () => loader.insert(table, names, change ? moved.map(change) : moved))
    },
    end: () => Promise.resolve(),
  }
}

function moveObject<Value>(id: Value, objectIds: ReadonlyMap<string, string>): Value | string {
  return typeof id === "string" ? (objectIds.get(id) ?? id) : id
}

/**
 * An error of the database about a row is reported as a fault of the file. Other errors, such as an
 * unavailable database, stay unchanged.
 */
async function translate<T>(table: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (
      error instanceof AppError ||
      error instanceof RestoreRefused ||
      error instanceof BackupDamaged ||
      !(error instanceof Error)
    )
      throw error
    throw new RestoreRefused(
      `${table === "" ? "its rows are" : `a row of ${table} is`} inconsistent: ${error.message}`,
      {
        cause: error,
      },
    )
  }
}

async function verify(
  loader: Loader,
  sections: Readonly<Record<string, number>>,
  report: RestoreOptions["report"],
): Promise<void> {
  const tables = Object.entries(sections).filter(([name]) => backupTables[name]?.kind === "rows")
  for (const [index, [name, expected]] of tables.entries()) {
    const [row] = await loader.run<{ count: number | string }>(
      raw(`select count(*) as count from ${name}`),
    )
    if (Number(row?.count) !== expected)
      throw new RestoreRefused(`${row?.count} of ${expected} ${name} were restored`)
    report({ step: "verify", done: index + 1, total: tables.length })
  }
}

interface TextSource {
  readonly id: string
  readonly name: string
  readonly privacy: string
  readonly readme: string | null
  readonly code: string
}

/** Vals per batch. */
const valsMax = 500

/** Builds the search texts, in the order in which the vals were created. */
async function loadSearchTexts(loader: Loader, report: (vals: number) => void): Promise<void> {
  let done = 0
  for (let after = firstId; ; ) {
    const found = await loader.run<TextSource>(sql`
      select v.id, v.name, v.privacy, v.readme, c.code from vals v join versions c on c.val_id = v.id and c.version = v.version
      where v.id > ${after} order by v.id limit ${valsMax}`)
    const last = found.at(-1)
    if (!last) return
    after = last.id
    await loader.insert("search_texts", ["val_id", "is_public", "name", "body"], found.map(toRow))
    done += found.length
    report(done)
  }
}

function toRow({ id, name, privacy, readme, code }: TextSource) {
  return [id, privacy === "public" ? 1 : 0, foldText(name), foldBody(code, readme)]
}
