import type { Page } from "@hamlet/database/page"
import { AppError } from "../app-error.ts"
import type { Clock } from "../clock.ts"
import type { StorageHome } from "../storage-home.ts"
import type { NewObject, ObjectStore, StoredObject } from "./objects.ts"

/** A blob without its content. */
export interface BlobEntry {
  readonly key: string
  readonly size: number
  readonly modifiedAt: number
}

/** A blob. Small content is inline, large content is an object. */
export interface StoredBlob extends BlobEntry {
  readonly contentType: string | null
  readonly content: Uint8Array | StoredObject
}

/** A blob to be stored. */
export interface NewBlob {
  readonly home: StorageHome
  readonly key: string
  readonly contentType: string | null
  readonly content: Uint8Array | NewObject
  readonly at: number
}

/** Which blobs to list: at most `limit` keys that start with `prefix` and sort after `after`. */
export interface BlobRange {
  readonly prefix: string
  readonly after?: string | undefined
  readonly limit: number
}

/** Stores blobs. */
export interface BlobStore {
  /** Sorted by key in Unicode order. */
  list(home: StorageHome, range: BlobRange): Promise<Page<BlobEntry>>
  find(home: StorageHome, key: string): Promise<StoredBlob | undefined>
  /** The maximum size of a blob with that key if all blobs of the user may have `bytesMax`. */
  findRoom(home: StorageHome, key: string, bytesMax: number): Promise<number>
  /** The number and total size of a user's blobs, with those of the user's vals. */
  findUsage(ownerId: string): Promise<{ readonly count: number; readonly bytes: number }>
  /**
   * Stores the blob, replacing its key. Returns false, and stores nothing, beyond `bytesMax`. Throws
   * when there is no such val.
   */
  put(blob: NewBlob, bytesMax: number): Promise<boolean>
  remove(home: StorageHome, key: string, at: number): Promise<boolean>
}

/** The rules of blobs. `uploads` has those of new content. */
export type Blobs = ReturnType<typeof createBlobs>

/** Creates the rules of blobs. */
export function createBlobs(store: BlobStore, objects: ObjectStore, { now }: Clock) {
  return {
    list: (home: StorageHome, range: BlobRange) => store.list(home, range),
    /** Returns a blob. */
    async get(home: StorageHome, key: string): Promise<StoredBlob> {
      const blob = await store.find(home, key)
      if (!blob) throw blobNotFound("find", home, key)
      return blob
    },
    /** The content of a large blob: the bytes from `start` to before `end`, in chunks. */
    read: (object: StoredObject, start: number, end: number) => objects.read(object, start, end),
    /** Deletes a blob. */
    async delete(home: StorageHome, key: string): Promise<void> {
      if (!(await store.remove(home, key, now()))) throw blobNotFound("delete", home, key)
    },
  }
}

function blobNotFound(action: string, { valId }: StorageHome, key: string): AppError {
  const holder = valId === undefined ? "you have" : "the val has"
  return new AppError(
    "blob_not_found",
    `Cannot ${action} blob "${key}": ${holder} none with that key`,
  )
}
