import { constants, linkSync, renameSync, rmSync } from "node:fs"
import { type FileHandle, open, stat } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { CliError } from "../cli-error.ts"

/**
 * A file that appears complete or not at all: it is written to a temporary name beside its path and
 * renamed at the end. Only its owner can read it.
 */
export class BackupFile {
  readonly path: string
  readonly #temporary: string
  readonly #isForced: boolean
  readonly #handle: FileHandle
  #isDiscarded = false

  private constructor(path: string, temporary: string, isForced: boolean, handle: FileHandle) {
    this.path = path
    this.#temporary = temporary
    this.#isForced = isForced
    this.#handle = handle
  }

  /** Fails before the first request if the path is taken. */
  static async create(path: string, isForced: boolean): Promise<BackupFile> {
    await assertFree(path, isForced)
    const temporary = join(dirname(path), `.${basename(path)}.${process.pid}.partial`)
    try {
      return new BackupFile(path, temporary, isForced, await open(temporary, "wx+", 0o600))
    } catch (cause) {
      throw toCliError(path, cause)
    }
  }

  async write(chunk: Uint8Array): Promise<void> {
    await this.#do(async () => {
      for (let written = 0; written < chunk.length; )
        written += (await this.#handle.write(chunk, written)).bytesWritten
    })
  }

  /** Waits until everything is on disk, and reads it back. */
  async *readBack(chunkBytes: number): AsyncGenerator<Uint8Array> {
    await this.#do(() => this.#handle.sync())
    for (let position = 0; ; ) {
      const { bytesRead, buffer } = await this.#do(() =>
        this.#handle.read(new Uint8Array(chunkBytes), 0, chunkBytes, position),
      )
      if (bytesRead === 0) return
      position += bytesRead
      yield buffer.subarray(0, bytesRead)
    }
  }

  /** Moves the file to its path. */
  async finish(): Promise<void> {
    await this.#do(async () => {
      await this.#handle.close()
      if (this.#isForced) renameSync(this.#temporary, this.path)
      else moveUnlessTaken(this.#temporary, this.path)
      await syncFolder(dirname(this.path))
    })
  }

  /** Removes the temporary file at any point; does nothing once finished. */
  discard(): void {
    this.#isDiscarded = true
    rmSync(this.#temporary, { force: true })
    // The file may already be closed; an unlinked one disappears with the process at the latest.
    this.#handle.close().catch(() => {})
  }

  async #do<Result>(work: () => Promise<Result>): Promise<Result> {
    // After an interruption, further errors are not reported.
    if (this.#isDiscarded) return new Promise(() => {})
    try {
      return await work()
    } catch (cause) {
      if (this.#isDiscarded) return new Promise(() => {})
      throw toCliError(this.path, cause)
    }
  }
}

async function assertFree(path: string, isForced: boolean): Promise<void> {
  const found = await stat(path).catch(() => undefined)
  if (found && !found.isFile())
    throw new CliError("usage", `Cannot write "${path}": it is not a regular file`)
  if (found && !isForced) throw toTaken(path)
}

function toTaken(path: string): CliError {
  return new CliError("conflict", `Cannot write "${path}": the file exists`, {
    advice: 'choose another name, or use "--force" to overwrite it',
  })
}

/** Creating a link fails if the target exists; renaming would replace it. */
function moveUnlessTaken(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") throw toTaken(to)
    // The file system has no hard links.
    renameSync(from, to)
    return
  }
  rmSync(from)
}

/** The new name must survive a power failure too. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY)
  try {
    await folder.sync()
  } catch {
    // Not all file systems can sync folders.
  } finally {
    await folder.close()
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "your disk quota is exceeded",
  EFBIG: "the file is too large for the file system",
  ENOENT: "the folder does not exist",
  ENOTDIR: "the folder does not exist",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the disk is read-only",
  ENAMETOOLONG: "the name is too long",
}

function toCliError(path: string, cause: unknown): CliError {
  if (cause instanceof CliError) return cause
  const { code = "", message } = cause as NodeJS.ErrnoException
  const exit = code === "ENOENT" || code === "ENOTDIR" ? "notFound" : "failed"
  return new CliError(exit, `Cannot write "${path}": ${reasons[code] ?? message}`, {
    cause,
    advice: "choose another path",
  })
}
