import type { BackupHeader } from "@hamlet/contract/backup"
import { sql } from "@hamlet/database"
import { AppError } from "../../domain/app-error.ts"
import type { ObjectPlace } from "../../domain/blobs/objects.ts"
import type { StorageHome } from "../../domain/storage-home.ts"
import type { ContentStore } from "../blobs/object-chunks.ts"
import { migrations } from "../migrations/index.ts"
import { backupTables, ownerDatabases as ownerSection, type Treatment } from "./backup-tables.ts"
import {
  type BackupConnection,
  readRows,
  readTables,
  type SnapshotRow,
  type TableColumn,
} from "./databases/backup-database.ts"
import { FrameWriter } from "./format/frame-writer.ts"
import {
  OwnerDatabaseDamaged,
  type OwnerDatabaseSource,
} from "./owner-databases/owner-database-source.ts"

/** The sources of a backup. */
export interface BackupSources {
  readonly snapshot: BackupConnection
  readonly bucket: ContentStore | undefined
  /** Undefined where users have no databases. */
  readonly ownerDatabases: OwnerDatabaseSource | undefined
  readonly serverVersion: string
  /** Leaves out the databases of users that cannot be read, and lists them in the trailer. */
  readonly skipDamaged: boolean
  now(): number
}

/** What is missing in a backup. */
interface Losses {
  /** Objects whose content is missing. */
  readonly missing: string[]
  /** Users and vals whose database cannot be read. */
  readonly damaged: string[]
}

interface Section {
  readonly name: string
  readonly treatment: Treatment | undefined
  readonly columns: readonly TableColumn[]
  readonly items: number
}

/** Yields the bytes of a backup, in order. The consumer sets the pace. */
export async function* writeBackup(sources: BackupSources): AsyncGenerator<Uint8Array, void> {
  const sections = await planSections(sources)
  const writer = new FrameWriter(await toHeader(sources, sections))
  const losses: Losses = { missing: [], damaged: [] }
  yield writer.begin()
  for (const [index, section] of sections.entries()) {
    if (section.treatment?.kind === "rows")
      yield* writeRows(sources, writer, index, section, section.treatment.where ?? "true")
    else if (section.treatment?.kind === "objects")
      yield* writeObjects(sources, writer, index, section, losses)
    else yield* writeOwnerDatabases(sources, writer, index, losses)
  }
  yield writer.end(losses)
}

async function planSections({
  snapshot,
  bucket,
  ownerDatabases,
  skipDamaged,
}: BackupSources): Promise<readonly Section[]> {
  // Checked before the first byte is sent.
  await assertAllTablesKnown(snapshot)
  const [inBucket] = bucket
    ? []
    : await snapshot.read`
      select id from objects where place = 's3' and unused_since is null limit 1`
  if (inBucket) throw noBucket()
  const tables = await readTables(snapshot)
  const sections: Section[] = []
  for (const [name, treatment] of Object.entries(backupTables)) {
    if (treatment.kind === "none") continue
    const columns = tables.get(name) ?? []
    const items =
      treatment.kind === "objects" ? await countContent(snapshot) : await estimate(snapshot, name)
    sections.push({ name, treatment, columns, items })
  }
  const items = ownerDatabases ? await planDatabases(snapshot, ownerDatabases, skipDamaged) : 0
  return [...sections, { name: ownerSection, treatment: undefined, columns: [], items }]
}

/** A newer schema may have tables that this version would leave out, even where it works with them. */
async function assertAllTablesKnown(snapshot: BackupConnection): Promise<void> {
  const known = migrations.at(-1)?.version ?? 0
  const [newer] = await snapshot.read<{ version: number }>`
    select version from schema_migrations where version > ${known} order by version desc limit 1`
  if (newer)
    throw new AppError(
      "database_unavailable",
      `Cannot make a backup: a newer version of Hamlet has migrated the database (its schema is ${newer.version}, this version knows up to ${known}); let a node of that version make it`,
    )
}

/**
 * The items of the databases of users. They are checked before the first byte: a client gets no
 * reason for a response that is cut off.
 */
async function planDatabases(
  snapshot: BackupConnection,
  source: OwnerDatabaseSource,
  skipDamaged: boolean,
): Promise<number> {
  let items = 0
  for await (const database of source.list()) {
    items += contentItems(database.bytes)
    const reason = skipDamaged ? undefined : await source.findDamage(database)
    const name = reason === undefined ? undefined : await findName(snapshot, database)
    if (reason !== undefined && name !== undefined)
      throw new OwnerDatabaseDamaged(database, name, reason)
  }
  return items
}

/** Undefined for a user or a val that was created after the snapshot, or was deleted before. */
async function findName(
  snapshot: BackupConnection,
  { ownerId, valId }: StorageHome,
): Promise<string | undefined> {
  const [found] = await snapshot.read<{ name: string }>(
    valId === undefined
      ? sql`select username as name from users where id = ${ownerId}`
      : sql`select u.username || '/' || v.name as name from vals v join users u on u.id = v.owner_id
          where v.id = ${valId} and v.owner_id = ${ownerId}`,
  )
  return found?.name
}

async function estimate(snapshot: BackupConnection, table: string): Promise<number> {
  const [row] = await snapshot.read<{ count: number }>(snapshot.dialect.estimateRows(table))
  return row?.count ?? 0
}

async function countContent(snapshot: BackupConnection): Promise<number> {
  const [row] = await snapshot.read<{ bytes: number }>`
    select coalesce(sum(size), 0) as bytes from objects where unused_since is null`
  return contentItems(row?.bytes ?? 0)
}

async function toHeader(
  { snapshot, serverVersion, now }: BackupSources,
  sections: readonly Section[],
): Promise<BackupHeader> {
  const applied = await snapshot.read<{ version: number; appliedAt: number }>`
    select version, applied_at from schema_migrations order by version`
  return {
    format: 1,
    schemaVersion: applied.at(-1)?.version ?? 0,
    serverVersion,
    createdAt: new Date(now()).toISOString(),
    items: sections.reduce((sum, { items }) => sum + items, 0),
    sections: sections.map(({ name, items, treatment, columns }) => ({
      name,
      items,
      ...(treatment?.kind === "rows" ? { columns: columns.map((column) => column.name) } : {}),
    })),
    migrations: applied.map(({ version, appliedAt }) => ({
      version,
      appliedAt,
    })),
  }
}

async function* writeRows(
  { snapshot }: BackupSources,
  writer: FrameWriter,
  index: number,
  { name, columns }: Section,
  where: string,
): AsyncGenerator<Uint8Array, void> {
  const names = columns.map((column) => column.name)
  const integers = columns.flatMap(({ type }, at) => (type === "integer" ? [at] : []))
  const binaries = columns.flatMap(({ type }, at) => (type === "bytes" ? [at] : []))
  for await (const rows of readRows(snapshot, name, names, where)) {
    const bytes: Uint8Array[] = []
    for (const row of rows as unknown as Writable[]) {
      for (const at of integers) row[at] = toInteger(row[at], name)
      for (const at of binaries) row[at] = takeBytes(row[at], bytes)
    }
    yield writer.data(index, rows.length, rows, bytes)
  }
}

type Writable = (SnapshotRow[number] | undefined)[]

/** JSON has no 64-bit integers, and none of our numbers is that large. */
function toInteger(value: Writable[number], table: string): number | null {
  if (value === null || value === undefined) return null
  const number = Number(value)
  if (!Number.isSafeInteger(number))
    throw new Error(
      `Cannot back up ${table}: it contains the number ${value}, which JSON cannot represent`,
    )
  return number
}

/** Replaces bytes by their length. The bytes follow the JSON. */
function takeBytes(value: Writable[number], bytes: Uint8Array[]): number | null {
  if (!(value instanceof Uint8Array)) return null
  bytes.push(value)
  return value.length
}

async function* writeObjects(
  { snapshot, bucket }: BackupSources,
  writer: FrameWriter,
  index: number,
  { name }: Section,
  { missing }: Losses,
): AsyncGenerator<Uint8Array, void> {
  for await (const rows of readRows(
    snapshot,
    name,
    ["id", "owner_id", "place", "size"],
    "unused_since is null and size is not null",
  )) {
    for (const row of rows) {
      const [id, ownerId, place, size] = row as readonly [
        string,
        string,
        ObjectRow["place"],
        number | string,
      ]
      const object = { id, ownerId, place, size: Number(size) }
      const head = { id, ownerId, size: object.size }
      let at = 0
      for await (const piece of readObject(snapshot, bucket, object)) {
        if (piece === undefined) {
          missing.push(id)
          yield writer.data(index, 0, { ...head, isMissing: true }, [])
          break
        }
        yield writer.data(index, contentItems(piece.length), { ...head, at }, [piece])
        at += piece.length
      }
    }
  }
}

async function* writeOwnerDatabases(
  { snapshot, ownerDatabases, skipDamaged }: BackupSources,
  writer: FrameWriter,
  index: number,
  { damaged }: Losses,
): AsyncGenerator<Uint8Array, void> {
  if (!ownerDatabases) return
  ownerDatabases.removeLeftovers()
  for await (const database of ownerDatabases.list()) {
    const name = await findName(snapshot, database)
    if (name === undefined) continue
    try {
      let at = 0
      for await (const piece of ownerDatabases.read(database, name)) {
        yield writer.data(
          index,
          contentItems(piece.length),
          { id: database.valId ?? database.ownerId, at },
          [piece],
        )
        at += piece.length
      }
    } catch (error) {
      // The database is copied completely before its first byte is written, so no part of it is in
      // the backup.
      if (!skipDamaged || !(error instanceof OwnerDatabaseDamaged)) throw error
      damaged.push(name)
    }
  }
}

/** An object that a blob refers to. */
interface ObjectRow {
  readonly id: string
  readonly ownerId: string
  readonly place: ObjectPlace
  readonly size: number
}

/** The bytes of content that count as one item of progress, like a row. */
const itemBytes = 4096

/** The items of progress for so many bytes of content. */
function contentItems(bytes: number): number {
  return Math.ceil(bytes / itemBytes)
}

/** The bytes of an object, in pieces. Yields only undefined when its content is missing. */
function readObject(
  snapshot: BackupConnection,
  bucket: ContentStore | undefined,
  object: ObjectRow,
): AsyncGenerator<Uint8Array | undefined, void> {
  if (object.place === "database") return readChunks(snapshot, object)
  if (bucket) return readBucket(bucket, object)
  throw noBucket()
}

/** The error of a server that has the database, but not the bucket that belongs to it. */
function noBucket(): AppError {
  return new AppError(
    "storage_unavailable",
    "Cannot back up the blobs: some are in a bucket, but this server has no bucket configured",
  )
}

async function* readChunks(
  snapshot: BackupConnection,
  { id, size }: ObjectRow,
): AsyncGenerator<Uint8Array | undefined, void> {
  let bytes = 0
  for (let number = 0; bytes < size; number++) {
    const [row] = await snapshot.read<{ content: Uint8Array }>`
      select content from object_chunks where object_id = ${id} and number = ${number}`
    if (!row && number === 0) return yield undefined
    if (!row)
      throw new AppError(
        "storage_unavailable",
        `Cannot back up the blobs: a part of object ${id} is missing`,
      )
    bytes += row.content.length
    yield row.content
  }
}

/** Nothing is deleted from a bucket during a backup, so a missing object was lost before. */
async function* readBucket(
  bucket: ContentStore,
  { id, size }: ObjectRow,
): AsyncGenerator<Uint8Array | undefined, void> {
  const pieces = bucket.read(id, 0, size)
  const first = await pieces.next().catch((error: unknown) => {
    if (isNoSuchKey(error)) return undefined
    throw error
  })
  if (first === undefined) return yield undefined
  if (!first.done) yield first.value
  yield* pieces
}

function isNoSuchKey(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && "code" in cause && cause.code === "NoSuchKey"
}
