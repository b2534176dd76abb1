import { type FileHandle, lstat, open, realpath, rename, rm, stat } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { CliError } from "../cli-error.ts"
import type { Context } from "../context.ts"
import { writeBytes } from "../streams.ts"

/** A file that appears complete or not at all. */
export interface WholeFile extends AsyncDisposable {
  write(bytes: Uint8Array): Promise<void>
  /** Moves it to its path. Without this call nothing is left there. */
  commit(): Promise<void>
}

/**
 * Opens the target of an archive or a download: a temporary file beside the target, which replaces it at the end;
 * standard output for `-`; and special files such as pipes directly, because they cannot be
 * replaced.
 */
export async function openWholeFile(
  context: Pick<Context, "interruption">,
  path: string,
  isForced: boolean,
): Promise<WholeFile> {
  if (path === "-") return openOutput()
  try {
    const found = await stat(path).catch(() => undefined)
    if (found?.isDirectory()) throw new CliError("usage", `Cannot write "${path}": it is a folder`)
    if (found && !found.isFile()) return openSpecial(path)
    if (found && !isForced)
      throw new CliError("conflict", `Cannot write "${path}": the file exists`, {
        advice: 'use "--force" to overwrite it',
      })
    return await openBeside(context, found ? await realpath(path) : path)
  } catch (error) {
    throw toWriteError(path, error)
  }
}

async function openBeside(
  { interruption }: Pick<Context, "interruption">,
  target: string,
): Promise<WholeFile> {
  const temporary = join(dirname(target), `.${basename(target)}.${process.pid}.tmp`)
  // A dangling link is replaced, not followed.
  const mode = await lstat(target).then(
    (found) => found.mode & 0o777,
    () => 0o666,
  )
  const file = await open(temporary, "wx", mode)
  let isOpen = true
  const close = async () => {
    if (isOpen) await file.close()
    isOpen = false
  }
  const discard = async () => {
    await close()
    await rm(temporary, { force: true })
  }
  const unregister = interruption.onEnd(discard)
  return {
    write: (bytes) => writeAll(target, file, bytes),
    async commit() {
      try {
        await file.sync()
        await close()
        await rename(temporary, target)
      } catch (error) {
        throw toWriteError(target, error)
      }
    },
    async [Symbol.asyncDispose]() {
      unregister()
      await discard()
    },
  }
}

async function openSpecial(path: string): Promise<WholeFile> {
  const file = await open(path, "w")
  return {
    write: (bytes) => writeAll(path, file, bytes),
    commit: async () => {},
    [Symbol.asyncDispose]: () => file.close(),
  }
}

async function writeAll(path: string, file: FileHandle, bytes: Uint8Array): Promise<void> {
  try {
    for (let done = 0; done < bytes.length; ) done += (await file.write(bytes, done)).bytesWritten
  } catch (error) {
    throw toWriteError(path, error)
  }
}

function openOutput(): WholeFile {
  if (process.stdout.isTTY)
    throw new CliError("usage", "Cannot write an archive to a terminal", {
      advice: 'name a file, or redirect the output with ">"',
    })
  return {
    write: writeBytes,
    commit: async () => {},
    [Symbol.asyncDispose]: async () => {},
  }
}

function toWriteError(path: string, cause: unknown): CliError {
  return cause instanceof CliError
    ? cause
    : new CliError("failed", `Cannot write "${path}": ${(cause as Error).message}`, { cause })
}
