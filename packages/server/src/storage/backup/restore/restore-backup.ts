import { BackupDamaged, type BackupHeader, type BackupSummary } from "@hamlet/contract/backup"
import { findTooOld, firstId, type Migration, raw, type SqlValue } from "@hamlet/database"
import { AppError } from "../../../domain/app-error.ts"
import type { Recipient } from "../../../domain/mail/outbound/emails.ts"
import type { ContentStore } from "../../blobs/object-chunks.ts"
import { foldBody, foldText } from "../../search/fold-text.ts"
import { toSearchedPath } from "../../vals/changes/change-val.ts"
import { withEntry } from "../../vals/val-rows.ts"
import { backupTables, ownerDatabases } from "../backup-tables.ts"
import { type LoadConnection, readTables, type TableColumn } from "../databases/backup-database.ts"
import { checkFile, type Frame, readFrames } from "../format/frame-reader.ts"
import { toRows } from "../format/row-values.ts"
import {
  type ContentLoader,
  createBucketLoader,
  createChunkLoader,
  createOwnerDatabaseLoader,
} from "./content-loader.ts"
import { type Loader, RestoreRefused } from "./loader.ts"
import type { RestoreFiles } from "./restore-files.ts"

/** The server that a backup is restored into. */
export interface RestoreTarget {
  readonly loader: Loader
  readonly files: RestoreFiles
  readonly bucket: ContentStore | undefined
  /** The migrations that this version knows. */
  readonly migrations: readonly Migration[]
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

/**
 * Restores a backup into an empty server. The file is read twice: first it is checked completely,
 * then it is loaded. Nothing is visible before the end.
 */
export async function restoreBackup(
  path: string,
  target: RestoreTarget,
  options: RestoreOptions,
): Promise<Restored> {
  const { loader, files, migrations } = target
  const summary = await checkFile(path, (done, total) => {
    options.signal.throwIfAborted()
    options.report({ step: "check", done, total })
  })
  assertSupported(summary.header, migrations)
  const obstacle = await loader.findObstacle()
  if (obstacle !== undefined) throw new RestoreRefused(obstacle)
  await files.begin()
  const objectIds = new Map<string, string>()
  try {
    const known = migrations.filter(({ version }) => version <= summary.header.schemaVersion)
    const connection = await loader.begin(known)
    const restored = await load(path, { ...target, connection }, summary, objectIds, options)
    await files.placeOwnerDatabases()
    await loader.commit()
    files.end()
    return restored
  } catch (error) {
    await loader.abort().catch(() => {})
    await files.abort().catch(() => {})
    for (const id of objectIds.values()) await target.bucket?.remove(id).catch(() => {})
    throw error
  }
}

function assertSupported(
  { schemaVersion, serverVersion, sections }: BackupHeader,
  migrations: readonly Migration[],
): void {
  const newest = migrations.at(-1)?.version ?? 0
  if (schemaVersion > newest)
    throw new RestoreRefused(
      `a newer version of Hamlet, ${serverVersion}, has written it (its schema is ${schemaVersion}, this version knows up to ${newest})`,
    )
  const tooOld = findTooOld(schemaVersion, migrations)
  if (tooOld !== undefined)
    throw new RestoreRefused(
      `${tooOld.problem}; restore it with Hamlet ${tooOld.release}, start that once, then this version`,
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
  { connection, loader, files, bucket }: RestoreTarget & { readonly connection: LoadConnection },
  summary: BackupSummary,
  objectIds: Map<string, string>,
  { signal, report }: RestoreOptions,
): Promise<Restored> {
  const { header, trailer } = summary
  const owners = createOwnerDatabaseLoader(connection, files.besideFolder)
  const objects = bucket
    ? createBucketLoader(connection, bucket, objectIds)
    : createChunkLoader(connection)
  const loads = await planLoads(connection, header, { objects, owners }, objectIds)
  // Rows that migrations have inserted are in the backup too.
  for (const { name } of header.sections)
    if (backupTables[name]?.kind === "rows") await connection.run(raw(`delete from ${name}`))
  let items = 0
  for await (const frame of readFrames(path)) {
    signal.throwIfAborted()
    await loads[frame.section]?.add(frame)
    items += frame.items
    report({ step: "load", done: items, total: trailer.items })
  }
  for (const section of loads) await section.end()
  // The server asks for some of these times. Those before the base are known from the backup only.
  for (const { version, appliedAt } of header.migrations)
    if (version <= header.schemaVersion)
      await connection.run`
        insert into schema_migrations (version, name, applied_at) values (${version}, 'restored', ${appliedAt})
        on conflict (version) do update set applied_at = excluded.applied_at`
  const sections = Object.fromEntries(trailer.sections.map(({ name, items }) => [name, items]))
  await loadSearchTexts(connection, (done) => {
    signal.throwIfAborted()
    report({ step: "index", done, total: sections.vals ?? 0 })
  })
  await translate("", () => loader.finish(signal))
  await verify(connection, sections, report)
  return { summary, sections, ownerDatabases: owners.count }
}

async function planLoads(
  connection: LoadConnection,
  header: BackupHeader,
  content: { readonly objects: ContentLoader; readonly owners: ContentLoader },
  objectIds: ReadonlyMap<string, string>,
): Promise<readonly ContentLoader[]> {
  const tables = await readTables({ dialect: connection.dialect, read: connection.run })
  return header.sections.map(({ name, columns = [] }) => {
    if (name === ownerDatabases) return content.owners
    if (backupTables[name]?.kind === "objects") return content.objects
    const table = tables.get(name) ?? []
    const typed = columns.flatMap((column) => table.find((one) => one.name === column) ?? [])
    const counts = [columns.length, typed.length, new Set(columns).size]
    if (table.length === 0 || counts.some((count) => count !== table.length))
      throw new RestoreRefused(
        `the columns of its section "${name}" differ from those of the table at schema ${header.schemaVersion}`,
      )
    return createTableLoader(connection, name, typed, objectIds)
  })
}

function createTableLoader(
  connection: LoadConnection,
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
      await translate(table, () =>
        connection.insert(table, names, change ? moved.map(change) : moved),
      )
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
  connection: LoadConnection,
  sections: Readonly<Record<string, number>>,
  report: RestoreOptions["report"],
): Promise<void> {
  const tables = Object.entries(sections).filter(([name]) => backupTables[name]?.kind === "rows")
  for (const [index, [name, expected]] of tables.entries()) {
    const [row] = await connection.run<{ count: number }>(
      raw(`select count(*) as count from ${name}`),
    )
    if (row?.count !== expected)
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
  readonly description: string | null
  readonly entryPath: string | null
}

/** Vals per batch. */
const valsMax = 500

/** The server that starts migrates the tables of an older backup, but not the search texts. */
const texts =
  raw(`select v.id, v.name, v.privacy, d.content as readme, coalesce(c.content, '') as code, v.description, n.entry_path
  from vals v join branches b on b.id = v.id join versions n on n.branch_id = b.id and n.version = b.version ${withEntry.text}`)

/** Housekeeping adds the other files. */
const backlog =
  raw(`insert into search_backlog (val_id) select v.id from vals v where exists (select 1 from files f
  where f.branch_id = v.id and f.id <> v.id and f.path <> 'README.md')`)

/** Builds the search texts, in the order in which the vals were created. */
async function loadSearchTexts(
  connection: LoadConnection,
  report: (vals: number) => void,
): Promise<void> {
  let done = 0
  for (let after = firstId; ; ) {
    const found = await connection.run<TextSource>`
      ${texts} where v.id > ${after} order by v.id limit ${valsMax}`
    const last = found.at(-1)
    if (!last) break
    after = last.id
    await connection.insert(
      "search_texts",
      ["val_id", "is_public", "name", "body"],
      found.map(toRow),
    )
    done += found.length
    report(done)
  }
  await connection.run(backlog)
}

function toRow({ id, name, privacy, entryPath, ...texts }: TextSource) {
  const codePath = entryPath ? toSearchedPath(entryPath) : undefined
  const body = foldBody({ ...texts, codePath })
  return [id, privacy === "public" ? 1 : 0, foldText(name), body]
}

type Row = readonly SqlValue[]

/** Why an email that waited is not sent by the restored server. */
const restoredEmailError =
  "it waited when the backup was made, so the original server may have sent it meanwhile"

/**
 * How the rows of a table change when they are restored; undefined if they do not. Two servers must
 * not send the same email: the one that was restored sends none that waited, unless its user asks
 * for it.
 */
function createRowChange(
  table: string,
  columns: readonly string[],
  at: number,
): ((row: Row) => Row) | undefined {
  if (table !== "emails") return undefined
  const indexOf = (column: string) => columns.indexOf(column)
  return (row) => {
    const recipients = row[indexOf("recipients")]
    if (row[indexOf("status")] !== "waiting" || typeof recipients !== "string") return row
    return row
      .with(indexOf("status"), "failed")
      .with(indexOf("recipients"), JSON.stringify(toFailed(recipients)))
      .with(indexOf("error"), restoredEmailError)
      .with(indexOf("next_attempt_at"), null)
      .with(indexOf("ended_at"), at)
  }
}

/** Sets waiting recipients to failed; those who had got the email already keep their status. */
function toFailed(recipients: string): unknown {
  const parsed: unknown = JSON.parse(recipients)
  if (!Array.isArray(parsed)) return parsed
  return (parsed as readonly Recipient[]).map((recipient) =>
    recipient.status === "waiting" ? { ...recipient, status: "failed" } : recipient,
  )
}
