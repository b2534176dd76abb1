import { constants, linkSync, renameSync, rmSync } from "node:fs"
import { type FileHandle, open, stat } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { CliError } from "../cli-error.ts"

/**
 * A file that is there whole or not at all: it is written beside its place, under a name of its
 * own, and moved there at the end. Only its owner can read it.
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

  /** Refuses before anything is asked of the server, if the place is taken. */
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

  /** Waits until everything is on the disk, and gives it back from there. */
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

  /** Puts it where it belongs. */
  async finish(): Promise<void> {
    await this.#do(async () => {
      await this.#handle.close()
      if (this.#isForced) renameSync(this.#temporary, this.path)
      else moveUnlessTaken(this.#temporary, this.path)
      await syncFolder(dirname(this.path))
    })
  }

  /** Leaves nothing behind, at whatever point; once it is finished there is nothing to remove. */
  discard(): void {
    this.#isDiscarded = true
    rmSync(this.#temporary, { force: true })
    // It may be closed already, and a file without a name is gone at the latest with the program.
    this.#handle.close().catch(() => {})
  }

  async #do<Result>(work: () => Promise<Result>): Promise<Result> {
    // Whoever interrupted the program does not want to read what became of the rest.
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
  if (found && !found.isFile()) throw new CliError("usage", `Cannot write "${path}": it is no file`)
  if (found && !isForced) throw toTaken(path)
}

function toTaken(path: string): CliError {
  return new CliError("conflict", `Cannot write "${path}": it is there already`, {
    advice: "choose another name, or --force to replace it",
  })
}

/** A link is refused where there is something, which moving a file is not. */
function moveUnlessTaken(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") throw toTaken(to)
    // Some file systems have no links.
    renameSync(from, to)
    return
  }
  rmSync(from)
}

/** After a power cut the name has to be there as well. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY)
  try {
    await folder.sync()
  } catch {
    // Not all file systems can do this for folders.
  } finally {
    await folder.close()
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "you may not use more of the disk",
  EFBIG: "the file would be larger than files may be there",
  ENOENT: "there is no such folder",
  ENOTDIR: "there is no such folder",
  EACCES: "you may not write there",
  EPERM: "you may not write there",
  EROFS: "the disk is read-only",
  ENAMETOOLONG: "the name is too long",
}

function toCliError(path: string, cause: unknown): CliError {
  if (cause instanceof CliError) return cause
  const { code = "", message } = cause as NodeJS.ErrnoException
  const exit = code === "ENOENT" || code === "ENOTDIR" ? "notFound" : "failed"
  return new CliError(exit, `Cannot write "${path}": ${reasons[code] ?? message}`, {
    cause,
    advice: "write it somewhere else",
  })
}
