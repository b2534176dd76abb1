/** Where the content of an object is. */
export type ObjectPlace = "database" | "s3"

/** Content that is too large for a row. Immutable: new content of a blob is a new object. */
export interface StoredObject {
  readonly id: string
  readonly place: ObjectPlace
}

/** A new object with its size in bytes. */
export interface NewObject extends StoredObject {
  readonly size: number
}

/**
 * Stores objects.
 *
 *    written ──▶ referenced by a blob ──▶ unused for some minutes, so that readers can finish ──▶ deleted
 *       └──── never referenced ─────────────────────────────────────────────────────────────────▶ deleted
 */
export interface ObjectStore {
  /** Writes a new object. If `content` throws, nothing is stored. */
  write(ownerId: string, content: AsyncIterable<Uint8Array>): Promise<NewObject>
  /** The bytes from `start` to before `end`, in chunks. */
  read(object: StoredObject, start: number, end: number): AsyncGenerator<Uint8Array, void>
  /** Deletes an object, unless a blob references it. If that fails, it is retried later. */
  discard(object: StoredObject): Promise<void>
  /** Deletes some objects that are unused since before then. Returns false when there are none. */
  purge(before: number): Promise<boolean>
  /** Deletes unused objects of the user at once, except the latest `bytesMax` bytes. */
  purgeBeyond(ownerId: string, bytesMax: number): Promise<void>
}
