import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs"
import { basename, dirname, join } from "node:path"
import { CliError } from "../cli-error.ts"

/**
 * Writes a file atomically: a reader, or a full disk, never leaves half of it. Keeps the mode of an
 * existing file unless `mode` is given.
 */
export function writeFileWhole(path: string, text: string | Uint8Array, mode?: number): void {
  const target = resolveLink(path)
  const temporary = join(dirname(target), `.${basename(target)}.${process.pid}.tmp`)
  try {
    mkdirSync(dirname(target), { recursive: true })
    writeNew(temporary, text, mode ?? modeOf(target))
    renameSync(temporary, target)
  } catch (cause) {
    if (existsSync(temporary)) rmSync(temporary)
    throw new CliError("failed", `Cannot write "${path}": ${(cause as Error).message}`, { cause })
  }
}

function writeNew(path: string, text: string | Uint8Array, mode: number): void {
  const file = openSync(path, "w", mode)
  try {
    const bytes = Buffer.from(text)
    for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Follows a link, which stays a link: its target is written. */
function resolveLink(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    // The file does not exist yet.
    return path
  }
}

function modeOf(path: string): number {
  try {
    return statSync(path).mode & 0o777
  } catch {
    return 0o666
  }
}
