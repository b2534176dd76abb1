import { AppError } from "../../domain/app-error.ts"
import type { ObjectPlace } from "../../domain/blobs/objects.ts"
import type { ContentStore } from "../blobs/content-store.ts"
import { sql } from "../database/sql.ts"
import type { Snapshot } from "./snapshot.ts"

/** An object that a blob refers to. */
export interface ObjectRow {
  readonly id: string
  readonly ownerId: string
  readonly place: ObjectPlace
  readonly size: number
}

/** The bytes of content that count as one item of progress, like a row. */
const itemBytes = 4096

/** The items of progress for so many bytes of content. */
export function contentItems(bytes: number): number {
  return Math.ceil(bytes / itemBytes)
}

/** The bytes of an object, in pieces. Yields only undefined when its content is missing. */
export function readObject(
  snapshot: Snapshot,
  bucket: ContentStore | undefined,
  object: ObjectRow,
): AsyncGenerator<Uint8Array | undefined, void> {
  if (object.place === "database") return readChunks(snapshot, object)
  if (bucket) return readBucket(bucket, object)
  throw noBucket()
}

/** The error of a server that has the database, but not the bucket that belongs to it. */
export function noBucket(): AppError {
  return new AppError(
    "storage_unavailable",
    "Cannot back up the blobs: some are in a bucket, but this server has no bucket configured",
  )
}

async function* readChunks(
  snapshot: Snapshot,
  { id, size }: ObjectRow,
): AsyncGenerator<Uint8Array | undefined, void> {
  let bytes = 0
  for (let number = 0; bytes < size; number++) {
    const [row] = await snapshot.read<{ content: Uint8Array }>(
      sql`select content from object_chunks where object_id = ${id} and number = ${number}`,
    )
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
