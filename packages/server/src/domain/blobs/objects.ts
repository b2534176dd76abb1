/** Where the content of an object is. */
export type ObjectPlace = "database" | "s3"

/**
 * Content that is too large for a row. It never changes: new content of a blob is another object.
 */
export interface StoredObject {
  readonly id: string
  readonly place: ObjectPlace
}

/** A new object, with the number of its bytes. */
export interface NewObject extends StoredObject {
  readonly size: number
}

/**
 * Where objects are kept.
 *
 *    written ──▶ named by a blob ──▶ unused for some minutes, so that whoever reads it can finish ──▶ gone
 *       └──── nobody names it: unused from the beginning ───────────────────────────────────────────▶ gone
 */
export interface ObjectStore {
  /** Writes a new object. If the content breaks off, nothing remains of it. */
  write(ownerId: string, content: AsyncIterable<Uint8Array>): Promise<NewObject>
  /** The bytes from `start` to before `end`, piece by piece. */
  read(object: StoredObject, start: number, end: number): AsyncGenerator<Uint8Array, void>
  /**
   * Deletes an object, unless a blob names it. What cannot be deleted now is deleted in the
   * background.
   */
  discard(object: StoredObject): Promise<void>
  /**
   * Deletes a part of what has been unused since before then; false when there is nothing of it.
   */
  purge(before: number): Promise<boolean>
  /** Deletes at once what the user no longer uses, but for the last so many bytes. */
  purgeBeyond(ownerId: string, bytesMax: number): Promise<void>
}
