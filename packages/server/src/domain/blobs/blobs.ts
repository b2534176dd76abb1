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

/** A blob. Its content is here if it is small, else it is an object. */
export interface StoredBlob extends BlobEntry {
  readonly contentType: string | null
  readonly content: Uint8Array | StoredObject
}

/** A blob that is to be stored. */
export interface NewBlob {
  readonly ownerId: string
  readonly key: string
  readonly contentType: string | null
  readonly content: Uint8Array | NewObject
  readonly at: number
}

/**
 * Which blobs to list: those whose keys begin with the prefix and come after that one, so many of
 * them.
 */
export interface BlobRange {
  readonly prefix: string
  readonly after?: string | undefined
  readonly limit: number
}

/** Where blobs are kept. */
export interface BlobStore {
  /** By key, in the order of Unicode. */
  list(ownerId: string, range: BlobRange): Promise<Page<BlobEntry>>
  find(ownerId: string, key: string): Promise<StoredBlob | undefined>
  /**
   * How large a blob with that key may be when all of the user's together may have so many bytes.
   */
  findRoom(ownerId: string, key: string, bytesMax: number): Promise<number>
  /**
   * Stores the blob in the place of the one with its key. False, and nothing has changed, when that
   * makes all of them together too large.
   */
  put(blob: NewBlob, bytesMax: number): Promise<boolean>
  remove(ownerId: string, key: string, at: number): Promise<boolean>
}

/** How large blobs may be. */
export interface BlobLimits {
  readonly blobBytesMax: number
  /** Of each user, together. */
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

/** Content on its way in. It is read once, in one of two ways. */
export interface IncomingContent {
  /** As the sender says; undefined when nothing is said. */
  readonly length: number | undefined
  bytes(): Promise<Uint8Array>
  stream(): AsyncIterable<Uint8Array>
}

/** What is stored, and as what. */
export interface PutBlob {
  readonly key: string
  readonly contentType: string | null
  readonly content: IncomingContent
}

/** A blob up to this size is in its row: it is read and written by one statement. */
const inlineBytesMax = 65_536

/** A blob of the caller's. */
export async function getBlob(deps: BlobDeps, caller: Caller, key: string): Promise<StoredBlob> {
  const blob = await deps.blobs.find(caller.userId, key)
  if (!blob)
    throw new AppError("blob_not_found", `Cannot find blob "${key}": you have none with that key`)
  return blob
}

/** Deletes a blob of the caller's. */
export async function deleteBlob(deps: BlobDeps, caller: Caller, key: string): Promise<void> {
  if (!(await deps.blobs.remove(caller.userId, key, deps.now())))
    throw new AppError("blob_not_found", `Cannot delete blob "${key}": you have none with that key`)
}

/**
 * Stores a blob of the caller's, in the place of the one with that key. It is there as a whole or
 * not at all.
 */
export async function putBlob(deps: BlobDeps, caller: Caller, input: PutBlob): Promise<void> {
  const { length } = input.content
  if (length !== undefined && length > deps.blobLimits.blobBytesMax) throw tooLarge(deps, input)
  if (length !== undefined && length <= inlineBytesMax)
    return put(deps, caller, input, await input.content.bytes())
  // Before anything is read, where it is known before.
  if (length !== undefined) await findRoom(deps, caller, input, length)
  const pieces = input.content.stream()[Symbol.asyncIterator]()
  try {
    const { head, isWhole } = await readHead(pieces)
    if (isWhole) await put(deps, caller, input, head)
    else await putLarge(deps, caller, input, joined(head, pieces))
  } finally {
    // Whoever still sends is not listened to any longer.
    await pieces.return?.()
  }
}

/** The first bytes, as many as tell whether the whole is small. */
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
  // What was replaced is kept for a while. Whoever replaces faster than that makes room first, or
  // their quota would mean nothing.
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

/** How much there is room for, which is at least so much. */
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

/** The same content, which ends with an error as soon as there is too much of it. */
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

/** What all blobs of the caller may have together. */
function findBytesMax({ quotas, blobLimits }: BlobDeps, { userId }: Caller): number {
  return quotas.find(userId)?.blobBytes ?? blobLimits.blobsBytesMax
}

function full(deps: BlobDeps, caller: Caller, { key }: PutBlob): AppError {
  const limit = `${findBytesMax(deps, caller)} bytes that all of your blobs may have together`
  return new AppError(
    "quota_exceeded",
    `Cannot store blob "${key}": with it there would be more than the ${limit}`,
  )
}

function tooMuchAtOnce(deps: BlobDeps, caller: Caller, { key }: PutBlob): AppError {
  return new AppError(
    "rate_limited",
    `Cannot store blob "${key}" now: you are sending more than ${findBytesMax(deps, caller)} bytes at a time`,
  )
}
