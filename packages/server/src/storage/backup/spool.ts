import { randomUUID } from "node:crypto"
import { type FileHandle, open, rm, statfs } from "node:fs/promises"
import { join } from "node:path"
import { AppError } from "../../domain/app-error.ts"

export interface SpoolOptions {
  /** The folder of the file for data that does not fit into memory. */
  readonly folder: string
  readonly limits?: Partial<SpoolLimits>
}

/** Limits on what was written and not read yet. */
const defaults = {
  /** Up to this size it stays in memory. */
  memoryBytesMax: 16_777_216,
  /** The space that stays free on the disk. */
  freeBytesMin: 1_073_741_824,
  /** How long the writer waits in total for the reader when neither memory nor disk has room. */
  waitMsMax: 60_000,
}

export type SpoolLimits = Readonly<typeof defaults>
const readBytes = 1_048_576

/**
 * A queue of pieces that are written faster than they are read: first in memory, then in an unlinked
 * file, which it creates when it needs one.
 */
export class Spool {
  isStopped = false
  readonly #folder: string
  readonly #limits: SpoolLimits
  readonly #memory: Uint8Array[] = []
  #memoryBytes = 0
  #file: FileHandle | undefined
  /**
   * The size of the file, and how much of it was read. Its content comes after the pieces in memory.
   */
  #fileBytes = 0
  #readBytes = 0
  #isSpilling = false
  #waitMs: number
  #end: { readonly error: unknown } | undefined
  #waiting: (() => void)[] = []

  constructor({ folder, limits }: SpoolOptions) {
    this.#folder = folder
    this.#limits = { ...defaults, ...limits }
    this.#waitMs = this.#limits.waitMsMax
  }

  async write(piece: Uint8Array): Promise<void> {
    while (!this.isStopped) {
      const isFileEmpty = this.#readBytes === this.#fileBytes
      if (isFileEmpty && this.#memoryBytes + piece.length <= this.#limits.memoryBytesMax) {
        this.#memory.push(piece)
        this.#memoryBytes += piece.length
        break
      }
      if (await this.#spill(piece)) break
      await this.#waitForReader()
    }
    this.#changed()
  }

  /** Nothing more will be written. The reader gets the error, if there is one, after all pieces. */
  end(error: unknown): void {
    this.#end = { error }
    this.#changed()
  }

  /** Undefined after the end. */
  async read(): Promise<Uint8Array | undefined> {
    for (;;) {
      const inMemory = this.#memory.shift()
      this.#memoryBytes -= inMemory?.length ?? 0
      const piece = inMemory ?? (await this.#readFile())
      if (piece) {
        this.#changed()
        return piece
      }
      if (this.#end?.error !== undefined) throw this.#end.error
      if (this.#end) return undefined
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  /** Nothing more will be read. */
  stop(): void {
    this.isStopped = true
    this.#changed()
  }

  async close(): Promise<void> {
    await this.#file?.close()
    this.#file = undefined
  }

  /** False when the disk has no room. */
  async #spill(piece: Uint8Array): Promise<boolean> {
    this.#isSpilling = true
    try {
      this.#file ??= await openUnlinked(this.#folder)
      const { bavail, bsize } = await statfs(this.#folder)
      if (bavail * bsize - piece.length < this.#limits.freeBytesMin) return false
      for (let at = 0; at < piece.length; ) {
        const { bytesWritten } = await this.#file.write(
          piece,
          at,
          piece.length - at,
          this.#fileBytes + at,
        )
        at += bytesWritten
      }
      this.#fileBytes += piece.length
      return true
    } finally {
      this.#isSpilling = false
    }
  }

  async #readFile(): Promise<Uint8Array | undefined> {
    const wanted = Math.min(readBytes, this.#fileBytes - this.#readBytes)
    if (!this.#file || wanted === 0) return undefined
    const { bytesRead, buffer } = await this.#file.read(
      Buffer.allocUnsafe(wanted),
      0,
      wanted,
      this.#readBytes,
    )
    if (bytesRead === 0)
      throw new AppError(
        "storage_unavailable",
        "Cannot continue the backup: its temporary file was truncated",
      )
    this.#readBytes += bytesRead
    // All of it was read: the next piece overwrites it.
    if (this.#readBytes === this.#fileBytes && !this.#isSpilling) {
      this.#readBytes = 0
      this.#fileBytes = 0
    }
    return buffer.subarray(0, bytesRead)
  }

  async #waitForReader(): Promise<void> {
    const started = performance.now()
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, this.#waitMs)
    this.#waiting.push(resolve)
    await promise
    clearTimeout(timer)
    this.#waitMs -= performance.now() - started
    if (this.#waitMs > 0 || this.isStopped) return
    throw new AppError(
      "storage_unavailable",
      "Cannot continue the backup: the client reads it too slowly, and the disk has no room to buffer the rest",
    )
  }

  #changed(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}

/** A file that disappears when it is closed, also when the server is killed. */
async function openUnlinked(folder: string): Promise<FileHandle> {
  const path = join(folder, `.backup-${randomUUID()}`)
  const file = await open(path, "wx+", 0o600)
  await rm(path)
  return file
}

/**
 * Takes pieces as fast as they are produced, and yields them as slowly as they are read. A backup
 * reads in one transaction, for which the database keeps all data that is replaced meanwhile: a slow
 * client must not keep that transaction open.
 */
export async function* readAhead(
  pieces: AsyncGenerator<Uint8Array, void>,
  options: SpoolOptions,
): AsyncGenerator<Uint8Array, void> {
  const spool = new Spool(options)
  const filling = fill(pieces, spool)
  try {
    for (;;) {
      const piece = await spool.read()
      if (piece === undefined) return
      yield piece
    }
  } finally {
    spool.stop()
    await filling
    await spool.close()
  }
}

async function fill(pieces: AsyncGenerator<Uint8Array, void>, spool: Spool): Promise<void> {
  try {
    for await (const piece of pieces) {
      await spool.write(piece)
      if (spool.isStopped) break
    }
    spool.end(undefined)
  } catch (error) {
    spool.end(error)
  }
}
