import type { Caller } from "../access.ts"
import { AppError } from "../app-error.ts"
import type { QuotaBook } from "../limits/quotas.ts"
import type { Page } from "../paging.ts"
import type { NewObject, ObjectStore, StoredObject } from "./objects.ts"
import type { Uploads } from "./uploads.ts"

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
  /** Stores the blob, replacing its key. Returns false, and stores nothing, beyond `bytesMax`. */
  put(blob: NewBlob, bytesMax: number): Promise<boolean>
  remove(ownerId: string, key: string, at: number): Promise<boolean>
}

/** How large blobs may be. */
export interface BlobLimits {
  readonly blobBytesMax: number
  /** The total per user. */
  readonly blobsBytesMax: number
}

/** What the rules of blobs need. */
export interface BlobDeps {
  readonly blobs: BlobStore
  readonly objects: ObjectStore
  readonly uploads: Uploads
  readonly blobLimits: BlobLimits
  readonly quotas: QuotaBook
  now(): number
}

/** The content of an upload. Read it once, with one of the two methods. */
export interface IncomingContent {
  /** The declared length, if any. */
  readonly length: number | undefined
  bytes(): Promise<Uint8Array>
  stream(): AsyncIterable<Uint8Array>
}

/** A blob to upload. */
export interface PutBlob {
  readonly key: string
  readonly contentType: string | null
  readonly content: IncomingContent
}

/** Blobs up to this size are stored in their row, and read and written by one statement. */
const inlineBytesMax = 65_536

/** Returns a blob of the caller. */
export async function getBlob(deps: BlobDeps, caller: Caller, key: string): Promise<StoredBlob> {
  const blob = await deps.blobs.find(caller.userId, key)
  if (!blob)
    throw new AppError("blob_not_found", `Cannot find blob "${key}": you have none with that key`)
  return blob
}

/** Deletes a blob of the caller. */
export async function deleteBlob(deps: BlobDeps, caller: Caller, key: string): Promise<void> {
  if (!(await deps.blobs.remove(caller.userId, key, deps.now())))
    throw new AppError("blob_not_found", `Cannot delete blob "${key}": you have none with that key`)
}

/** Stores a blob of the caller, replacing its key, atomically. */
export async function putBlob(deps: BlobDeps, caller: Caller, input: PutBlob): Promise<void> {
  const { length } = input.content
  if (length !== undefined && length > deps.blobLimits.blobBytesMax) throw tooLarge(deps, input)
  if (length !== undefined && length <= inlineBytesMax)
    return put(deps, caller, input, await input.content.bytes())
  // Checked before anything is read if the length is declared.
  if (length !== undefined) await findRoom(deps, caller, input, length)
  const pieces = input.content.stream()[Symbol.asyncIterator]()
  try {
    const { head, isWhole } = await readHead(pieces)
    if (isWhole) await put(deps, caller, input, head)
    else await putLarge(deps, caller, input, joined(head, pieces))
  } finally {
    // Stops reading the rest of the upload.
    await pieces.return?.()
  }
}

/** Reads the first bytes, enough to know whether the content is small. */
async function readHead(
  pieces: AsyncIterator<Uint8Array>,
): Promise<{ readonly head: Uint8Array; readonly isWhole: boolean }> {
  const read: Uint8Array[] = []
  for (let bytes = 0; bytes <= inlineBytesMax; ) {
    const { done, value } = await pieces.next()
    if (done) return { head: Buffer.concat(read), isWhole: true }
    read.push(value)
    bytes += value.length
  }
  return { head: Buffer.concat(read), isWhole: false }
}

async function* joined(
  head: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array, void> {
  yield head
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
}

async function putLarge(
  deps: BlobDeps,
  caller: Caller,
  input: PutBlob,
  content: AsyncIterable<Uint8Array>,
): Promise<void> {
  const blobsBytesMax = findBytesMax(deps, caller)
  const room = await findRoom(deps, caller, input, inlineBytesMax)
  // Replaced objects are kept for a while. They are deleted here when they exceed the quota, since
  // frequent replacement would otherwise use unlimited space.
  await deps.objects.purgeBeyond(caller.userId, blobsBytesMax)
  const object = await deps.objects.write(
    caller.userId,
    counted(deps, caller, input, content, room),
  )
  try {
    await put(deps, caller, input, object)
  } catch (error) {
    await deps.objects.discard(object)
    throw error
  }
}

/** The bytes that are free. Throws if there are fewer than `bytes`. */
async function findRoom(
  deps: BlobDeps,
  caller: Caller,
  input: PutBlob,
  bytes: number,
): Promise<number> {
  const room = await deps.blobs.findRoom(caller.userId, input.key, findBytesMax(deps, caller))
  if (bytes > room) throw full(deps, caller, input)
  return room
}

/** Forwards the content, and throws as soon as a limit is exceeded. */
async function* counted(
  deps: BlobDeps,
  caller: Caller,
  input: PutBlob,
  content: AsyncIterable<Uint8Array>,
  room: number,
): AsyncGenerator<Uint8Array, void> {
  let bytes = 0
  try {
    for await (const piece of content) {
      if (bytes + piece.length > deps.blobLimits.blobBytesMax) throw tooLarge(deps, input)
      if (bytes + piece.length > room) throw full(deps, caller, input)
      if (!deps.uploads.add(caller.userId, piece.length, findBytesMax(deps, caller)))
        throw tooMuchAtOnce(deps, caller, input)
      bytes += piece.length
      yield piece
    }
  } finally {
    deps.uploads.remove(caller.userId, bytes)
  }
}

async function put(
  deps: BlobDeps,
  caller: Caller,
  input: PutBlob,
  content: NewBlob["content"],
): Promise<void> {
  const { key, contentType } = input
  if (content instanceof Uint8Array && content.length > deps.blobLimits.blobBytesMax)
    throw tooLarge(deps, input)
  const blob = { ownerId: caller.userId, key, contentType, content, at: deps.now() }
  if (!(await deps.blobs.put(blob, findBytesMax(deps, caller)))) throw full(deps, caller, input)
}

function tooLarge({ blobLimits }: BlobDeps, { key }: PutBlob): AppError {
  return new AppError(
    "body_too_large",
    `Cannot store blob "${key}": it has more than ${blobLimits.blobBytesMax} bytes`,
  )
}

/** The total size that the caller's blobs may have. */
function findBytesMax({ quotas, blobLimits }: BlobDeps, { userId }: Caller): number {
  return quotas.find(userId)?.blobBytes ?? blobLimits.blobsBytesMax
}

function full(deps: BlobDeps, caller: Caller, { key }: PutBlob): AppError {
  const bytesMax = findBytesMax(deps, caller)
  return new AppError(
    "quota_exceeded",
    `Cannot store blob "${key}": your blobs would have more than ${bytesMax} bytes in total`,
  )
}

function tooMuchAtOnce(deps: BlobDeps, caller: Caller, { key }: PutBlob): AppError {
  return new AppError(
    "rate_limited",
    `Cannot store blob "${key}" now: your uploads in progress have more than ${findBytesMax(deps, caller)} bytes`,
  )
}
