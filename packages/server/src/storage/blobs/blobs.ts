import {
  type Database,
  type Dialect,
  firstRow,
  nothing,
  raw,
  type Script,
  type Statement,
  type Statements,
  sql,
} from "@hamlet/database"
import { AppError } from "../../domain/app-error.ts"
import type {
  BlobEntry,
  BlobRange,
  BlobStore,
  NewBlob,
  StoredBlob,
} from "../../domain/blobs/blobs.ts"
import type { NewObject, ObjectPlace } from "../../domain/blobs/objects.ts"
import { homeGone, type StorageHome } from "../../domain/storage-home.ts"
import { firstAfterPrefix, isBefore } from "./key-order.ts"

interface BlobRow extends BlobEntry {
  readonly contentType: string | null
  readonly content: Uint8Array | null
  readonly objectId: string | null
  readonly place: ObjectPlace | null
}

/** Blobs in the database; for the large ones, the id of their object. */
export function createBlobStore(db: Database): BlobStore {
  return {
    async list(home, range) {
      const rows = await db.read<BlobEntry>(listBlobs(home, range))
      return { items: rows.slice(0, range.limit), hasMore: rows.length > range.limit }
    },
    async find(home, key) {
      const { table, column, id } = toPlace(home)
      const row = await db.first<BlobRow>`
        select b.key, b.size, b.modified_at, b.content_type, b.content, b.object_id, o.place
        from ${table} b left join objects o on o.id = b.object_id where b.${column} = ${id} and b.key = ${key}`
      return row && toBlob(row)
    },
    async findRoom(home, key, bytesMax) {
      const { table, column, id } = toPlace(home)
      const row = await db.first<{ bytes: number; size: number | null }>`
        select u.blob_bytes as bytes, b.size from users u left join ${table} b on b.${column} = ${id} and b.key = ${key} where u.id = ${home.ownerId}`
      const size = row?.size ?? 0
      return Math.max(size, bytesMax - (row?.bytes ?? 0) + size)
    },
    async findUsage(ownerId) {
      const row = await db.first<{ bytes: number; count: number }>`
        select blob_bytes as bytes, blob_count as count from users where id = ${ownerId}`
      return { count: row?.count ?? 0, bytes: row?.bytes ?? 0 }
    },
    put: (blob, bytesMax) => db.write(() => putBlob(db.dialect, blob, bytesMax)),
    remove: (home, key, at) => db.write(() => removeBlob(db.dialect, home, key, at)),
  }
}

/** The table of the blobs, and the id under which they are in it. */
function toPlace({ ownerId, valId }: StorageHome) {
  return valId === undefined
    ? { table: raw("blobs"), column: raw("owner_id"), id: ownerId }
    : { table: raw("val_blobs"), column: raw("val_id"), id: valId }
}

/** Only one lower bound: given two, a database may start reading at the wrong one. */
function listBlobs(home: StorageHome, { prefix, after, limit }: BlobRange): Statement {
  const { table, column, id } = toPlace(home)
  const from =
    after === undefined || isBefore(after, prefix) ? sql`key >= ${prefix}` : sql`key > ${after}`
  const end = firstAfterPrefix(prefix)
  return sql`
    select key, size, modified_at from ${table}
    where ${column} = ${id} and ${from} ${end === undefined ? nothing : sql`and key < ${end}`} order by key limit ${limit + 1}`
}

interface OldRow {
  readonly size: number
  readonly objectId: string | null
}

function* putBlob(dialect: Dialect, blob: NewBlob, bytesMax: number): Script<boolean> {
  const { home, key, contentType, content, at } = blob
  const { table, column, id } = toPlace(home)
  const [size, bytes, object] =
    content instanceof Uint8Array
      ? [content.length, content, undefined]
      : [content.size, null, content]
  yield* assertVal(home)
  // Locks the row of the user, so that concurrent changes are added up one after the other.
  // Of a user whose data is being deleted, nothing would ever delete it.
  const user = yield* firstRow<{ bytes: number }>`
    select blob_bytes as bytes from users where id = ${home.ownerId} and purge_at is null ${dialect.forUpdate}`
  if (!user) throw homeGone({ ownerId: home.ownerId })
  const old = yield* firstRow<OldRow>`
    select size, object_id from ${table} where ${column} = ${id} and key = ${key}`
  const grown = size - (old?.size ?? 0)
  // A user above a limit that was lowered may still reduce what they use.
  if (grown > 0 && user.bytes + grown > bytesMax) return false
  if (object) yield* nameObject(object)
  yield sql`insert into ${table} (${column}, key, size, content_type, modified_at, content, object_id)
    values (${id}, ${key}, ${size}, ${contentType}, ${at}, ${bytes}, ${object?.id ?? null})
    on conflict (${column}, key) do update set size = excluded.size, content_type = excluded.content_type,
      modified_at = excluded.modified_at, content = excluded.content, object_id = excluded.object_id`
  if (old?.objectId) yield dropObject(old.objectId, at)
  yield changeUsage(home.ownerId, grown, old ? 0 : 1)
  return true
}

/** An upload may end after its val was deleted. One that ends at that moment is purged later. */
function* assertVal({ ownerId, valId }: StorageHome): Statements<void> {
  if (valId === undefined) return
  const val = yield* firstRow`
    select id from vals where id = ${valId} and owner_id = ${ownerId}`
  if (!val) throw homeGone({ ownerId, valId })
}

function* removeBlob(
  dialect: Dialect,
  home: StorageHome,
  key: string,
  at: number,
): Script<boolean> {
  const { table, column, id } = toPlace(home)
  yield sql`select id from users where id = ${home.ownerId} ${dialect.forUpdate}`
  const old = yield* firstRow<OldRow>`
    delete from ${table} where ${column} = ${id} and key = ${key} returning size, object_id`
  if (!old) return false
  if (old.objectId) yield dropObject(old.objectId, at)
  yield changeUsage(home.ownerId, -old.size, -1)
  return true
}

function* nameObject({ id, size }: NewObject): Statements<void> {
  const named = yield* firstRow`
    update objects set unused_since = null, size = ${size} where id = ${id} and unused_since is not null returning id`
  if (!named)
    throw new AppError(
      "storage_unavailable",
      "Cannot store the blob: the upload took so long that its first part was deleted",
    )
}

function dropObject(id: string, at: number): Statement {
  return sql`update objects set unused_since = ${at} where id = ${id}`
}

/** Adds to the number and the size of a user's blobs. */
export function changeUsage(ownerId: string, bytes: number, count: number): Statement {
  return sql`update users set blob_bytes = blob_bytes + ${bytes}, blob_count = blob_count + ${count} where id = ${ownerId}`
}

function toBlob({ content, objectId: id, place, ...entry }: BlobRow): StoredBlob {
  return {
    ...entry,
    content: id !== null && place !== null ? { id, place } : (content ?? new Uint8Array()),
  }
}
