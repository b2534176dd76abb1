import { AppError } from "../app-error.ts"
import type { Clock } from "../clock.ts"
import type { QuotaBook } from "../limits/quotas.ts"
import type { StorageHome } from "../storage-home.ts"
import type { BlobStore, NewBlob } from "./blobs.ts"
import type { ObjectStore } from "./objects.ts"

/** How large blobs may be. */
export interface BlobLimits {
  readonly blobBytesMax: number
  /** The total per user. */
  readonly blobsBytesMax: number
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

/** The rules of new content of blobs. */
export type Uploads = ReturnType<typeof createUploads>

/** Creates the rules of uploads. */
export function createUploads(
  store: BlobStore,
  objects: ObjectStore,
  quotas: QuotaBook,
  limits: BlobLimits,
  { now }: Clock,
) {
  const space = createSpace(quotas, limits)
  const inProgress = createUploadCounter()
  const putContent = async (home: StorageHome, input: PutBlob, content: NewBlob["content"]) => {
    const { key, contentType } = input
    if (content instanceof Uint8Array) space.assertSize(input, content.length)
    const blob = { home, key, contentType, content, at: now() }
    if (!(await store.put(blob, space.sizeFor(home)))) throw space.full(home, input)
  }
  /** The bytes that are free. Throws if there are fewer than `bytes`. */
  const findRoom = async (home: StorageHome, input: PutBlob, bytes: number) => {
    const room = await store.findRoom(home, input.key, space.sizeFor(home))
    if (bytes > room) throw space.full(home, input)
    return room
  }
  const putLarge = async (
    home: StorageHome,
    input: PutBlob,
    content: AsyncIterable<Uint8Array>,
  ) => {
    const { ownerId } = home
    const bytesMax = space.sizeFor(home)
    const room = await findRoom(home, input, inlineBytesMax)
    // Replaced objects are kept for a while. They are deleted here when they exceed the quota, since
    // frequent replacement would otherwise use unlimited space.
    await objects.purgeBeyond(ownerId, bytesMax)
    const checked = check(space, inProgress, home, input, content, room)
    const object = await objects.write(ownerId, checked)
    try {
      await putContent(home, input, object)
    } catch (error) {
      await objects.discard(object)
      throw error
    }
  }
  return {
    /** Stores a blob, replacing its key, atomically. */
    async put(home: StorageHome, input: PutBlob): Promise<void> {
      const { length } = input.content
      if (length !== undefined) {
        space.assertSize(input, length)
        if (length <= inlineBytesMax) return putContent(home, input, await input.content.bytes())
        // Checked before anything is read.
        await findRoom(home, input, length)
      }
      const pieces = input.content.stream()[Symbol.asyncIterator]()
      try {
        const { head, isWhole } = await readHead(pieces)
        if (isWhole) await putContent(home, input, head)
        else await putLarge(home, input, joined(head, pieces))
      } finally {
        // Stops reading the rest of the upload.
        await pieces.return?.()
      }
    },
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

/** Forwards the content, and throws as soon as a limit is exceeded. */
async function* check(
  space: Space,
  inProgress: UploadCounter,
  home: StorageHome,
  input: PutBlob,
  content: AsyncIterable<Uint8Array>,
  room: number,
): AsyncGenerator<Uint8Array, void> {
  let bytes = 0
  try {
    for await (const piece of content) {
      space.assertSize(input, bytes + piece.length)
      if (bytes + piece.length > room) throw space.full(home, input)
      if (!inProgress.add(home.ownerId, piece.length, space.sizeFor(home)))
        throw space.tooMuchAtOnce(home, input)
      bytes += piece.length
      yield piece
    }
  } finally {
    inProgress.remove(home.ownerId, bytes)
  }
}

type Space = ReturnType<typeof createSpace>

/** The space that blobs may take, and the errors of an upload that exceeds it. */
function createSpace(quotas: QuotaBook, { blobBytesMax, blobsBytesMax }: BlobLimits) {
  /** The total size that the user's blobs may have. */
  const sizeFor = ({ ownerId }: StorageHome) => quotas.find(ownerId)?.blobBytes ?? blobsBytesMax
  return {
    sizeFor,
    assertSize({ key }: PutBlob, bytes: number): void {
      if (bytes > blobBytesMax)
        throw new AppError(
          "body_too_large",
          `Cannot store blob "${key}": it has more than ${blobBytesMax} bytes`,
        )
    },
    full: (home: StorageHome, { key }: PutBlob) =>
      new AppError(
        "quota_exceeded",
        `Cannot store blob "${key}": your blobs would have more than ${sizeFor(home)} bytes in total`,
      ),
    tooMuchAtOnce: (home: StorageHome, { key }: PutBlob) =>
      new AppError(
        "rate_limited",
        `Cannot store blob "${key}" now: your uploads in progress have more than ${sizeFor(home)} bytes`,
      ),
  }
}

/** Counts the bytes of uploads in progress, which use space but are not part of a quota yet. */
interface UploadCounter {
  /** Returns false when the user's uploads would exceed `bytesMax`. */
  add(userId: string, bytes: number, bytesMax: number): boolean
  remove(userId: string, bytes: number): void
}

/** Creates the counter of uploads. */
export function createUploadCounter(): UploadCounter {
  const bytesOf = new Map<string, number>()
  return {
    add(userId, bytes, bytesMax) {
      const next = (bytesOf.get(userId) ?? 0) + bytes
      if (next > bytesMax) return false
      bytesOf.set(userId, next)
      return true
    },
    remove(userId, bytes) {
      const next = (bytesOf.get(userId) ?? 0) - bytes
      if (next > 0) bytesOf.set(userId, next)
      else bytesOf.delete(userId)
    },
  }
}
