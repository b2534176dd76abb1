import { type Database, nothing, type Statement, sql } from "@hamlet/database"
import { AppError } from "../../domain/app-error.ts"
import type { ObjectPlace, ObjectStore, StoredObject } from "../../domain/blobs/objects.ts"
import type { Clock } from "../../domain/clock.ts"
import { type ContentStore, createChunkContent } from "./object-chunks.ts"

const limits = {
  /**
   * How often a writer marks its object as being written: far more often than unused objects are
   * deleted.
   */
  renewMs: 60_000,
  /** How many unused objects of a user are kept at most. */
  unusedMax: 64,
}

/** Objects. New ones are in the bucket if there is one, else in the database. */
export function createObjectStore(
  db: Database,
  bucket: ContentStore | undefined,
  { newId, now }: Clock,
): ObjectStore {
  const stores = { database: createChunkContent(db), s3: bucket }

  function getStore(place: ObjectPlace): ContentStore {
    const found = stores[place]
    if (!found)
      throw new AppError(
        "storage_unavailable",
        "Cannot reach the blob: it is in a bucket, but this server has no bucket configured",
      )
    return found
  }

  /** Deletes the bytes first: until they are gone, the row shows that there is more to delete. */
  async function removePart({ id, place }: StoredObject): Promise<boolean> {
    if (await getStore(place).remove(id)) return true
    await db.run`delete from objects where id = ${id} and unused_since is not null`
    return false
  }

  async function discard(object: StoredObject): Promise<void> {
    try {
      // Only here it is certain that no blob refers to the object: a blob that is about to does so
      // under a lock on the same row.
      const claim = sql`update objects set unused_since = 0 where id = ${object.id} and unused_since is not null
        and (place <> 's3' or size is null or not ${isHeld(db)}) returning id`
      let hasMore = await db.change(claim)
      while (hasMore) hasMore = await removePart(object)
    } catch {
      // If this fails, the object is unused, and the background job deletes it.
    }
  }

  return {
    async write(ownerId, content) {
      const object: StoredObject = { id: newId(), place: bucket ? "s3" : "database" }
      const { id, place } = object
      await db.run`
        insert into objects (id, owner_id, place, unused_since) values (${id}, ${ownerId}, ${place}, ${now()})`
      let size = 0
      const count = (bytes: number) => {
        size += bytes
      }
      try {
        await getStore(place).write(id, watched(db, now, id, content, count))
      } catch (error) {
        await discard(object)
        throw error
      }
      return { ...object, size }
    },
    read: (object, start, end) => getStore(object.place).read(object.id, start, end),
    discard,
    async purge(before) {
      const oldest =
        (await findUnused(db, "database", before)) ??
        (bucket && (await findUnused(db, "s3", before, sql`and not ${isHeld(db)}`)))
      if (oldest) await removePart(oldest)
      return oldest !== undefined
    },
    async purgeBeyond(ownerId, bytesMax) {
      const unused = await db.read<StoredObject & { size: number }>`
        select id, place, size from objects where owner_id = ${ownerId} and unused_since is not null and size is not null
        order by unused_since desc limit ${limits.unusedMax + 1}`
      let bytes = 0
      for (const [index, object] of unused.entries()) {
        bytes += object.size
        if (index >= limits.unusedMax || bytes > bytesMax) await discard(object)
      }
    },
  }
}

const heldUntil = "objects_held_until"

/**
 * Protects the objects in a bucket from being deleted for that long, on all nodes. A backup reads the
 * database as it was at one moment, but the bucket as it is now; it only needs the objects that blobs
 * refer to.
 */
export async function holdObjects(db: Database, holdMs: number): Promise<void> {
  await db.run`
    insert into settings (name, value) values (${heldUntil}, cast(${db.dialect.now} + ${holdMs} as text))
    on conflict (name) do update set value = excluded.value`
}

/**
 * A condition of the statement that deletes, so that an object found earlier is not deleted during a
 * backup that has started since.
 */
function isHeld({ dialect }: Database): Statement {
  return sql`exists (select 1 from settings s where s.name = ${heldUntil} and cast(s.value as bigint) > ${dialect.now})`
}

async function findUnused(
  db: Database,
  place: ObjectPlace,
  before: number,
  condition: Statement = nothing,
): Promise<StoredObject | undefined> {
  const row = await db.first<{ id: string }>`
    select id from objects where place = ${place} and unused_since < ${before} ${condition} order by unused_since limit 1`
  return row && { id: row.id, place }
}

/**
 * Passes the pieces on and counts them. During a long write, marks the object now and then, so that
 * it is not deleted.
 */
async function* watched(
  db: Database,
  now: () => number,
  id: string,
  content: AsyncIterable<Uint8Array>,
  count: (bytes: number) => void,
): AsyncGenerator<Uint8Array, void> {
  let saidAt = now()
  for await (const piece of content) {
    count(piece.length)
    if (now() - saidAt > limits.renewMs) {
      saidAt = now()
      await db.run`
        update objects set unused_since = ${saidAt} where id = ${id} and unused_since is not null`
    }
    yield piece
  }
}
