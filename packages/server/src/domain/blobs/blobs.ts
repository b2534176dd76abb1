import type { Caller } from "../access.ts"
import { AppError } from "../app-error.ts"
import type { Clock } from "../clock.ts"
import type { Page } from "../paging.ts"
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
  readonly ownerId: string
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
  list(ownerId: string, range: BlobRange): Promise<Page<BlobEntry>>
  find(ownerId: string, key: string): Promise<StoredBlob | undefined>
  /** The maximum size of a blob with that key if all blobs of the user may have `bytesMax`. */
  findRoom(ownerId: string, key: string, bytesMax: number): Promise<number>
  /** The number and total size of a user's blobs. */
  findUsage(ownerId: string): Promise<{ readonly count: number; readonly bytes: number }>
  /** Stores the blob, replacing its key. Returns false, and stores nothing, beyond `bytesMax`. */
  put(blob: NewBlob, bytesMax: number): Promise<boolean>
  remove(ownerId: string, key: string, at: number): Promise<boolean>
}

/** The rules of blobs. `uploads` has those of new content. */
export type Blobs = ReturnType<typeof createBlobs>

/** Creates the rules of blobs. */
export function createBlobs(store: BlobStore, objects: ObjectStore, { now }: Clock) {
  return {
    list: (caller: Caller, range: BlobRange) => store.list(caller.userId, range),
    /** Returns a blob of the caller. */
    async get(caller: Caller, key: string): Promise<StoredBlob> {
      const blob = await store.find(caller.userId, key)
      if (!blob) throw blobNotFound("find", key)
      return blob
    },
    /** The content of a large blob: the bytes from `start` to before `end`, in chunks. */
    read: (object: StoredObject, start: number, end: number) => objects.read(object, start, end),
    /** Deletes a blob of the caller. */
    async delete(caller: Caller, key: string): Promise<void> {
      if (!(await store.remove(caller.userId, key, now()))) throw blobNotFound("delete", key)
    },
  }
}

function blobNotFound(action: string, key: string): AppError {
  return new AppError(
    "blob_not_found",
    `Cannot ${action} blob "${key}": you have none with that key`,
  )
}
