import { AppError } from "../../domain/app-error.ts"
import type { ObjectPlace } from "../../domain/blobs/objects.ts"
import type { ContentPlace } from "../blobs/content-store.ts"
import { sql } from "../database/sql.ts"
import type { Snapshot } from "./snapshot.ts"

/** An object that a blob names. */
export interface ObjectRow {
  readonly id: string
  readonly ownerId: string
  readonly place: ObjectPlace
  readonly size: number
}

/** What counts as much as a row does for whoever waits. */
const itemBytes = 4096

/** How far so many bytes take whoever waits. */
export function contentItems(bytes: number): number {
  return Math.ceil(bytes / itemBytes)
}

/** The bytes of an object, in pieces; undefined, and nothing else, when it is not there. */
export function readObject(
  snapshot: Snapshot,
  bucket: ContentPlace | undefined,
  object: ObjectRow,
): AsyncGenerator<Uint8Array | undefined, void> {
  if (object.place === "database") return readChunks(snapshot, object)
  if (bucket) return readBucket(bucket, object)
  throw noBucket()
}

/** What a server says that was given a database and not the bucket that belongs to it. */
export function noBucket(): AppError {
  return new AppError(
    "storage_unavailable",
    "Cannot back up the blobs: some are in a bucket, and this server knows of none",
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
        `Cannot back up the blobs: of object ${id} a part is missing`,
      )
    bytes += row.content.length
    yield row.content
  }
}

/** Nothing is deleted from a bucket during a backup; what is not there now has been lost before. */
async function* readBucket(
  bucket: ContentPlace,
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
