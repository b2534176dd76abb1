import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  type Stats,
} from "node:fs"
import { join } from "node:path"
import { CliError } from "../cli-error.ts"
import { toFailure } from "../failure.ts"
import { limits } from "../limits.ts"
import { toText } from "../terminal/read-input.ts"

/** What a file was when it was last examined. */
export interface SeenFile<File> {
  /** Differs whenever the file has changed; empty if it must be read again. */
  readonly mark: string
  /** What it contains, if it can be used. */
  readonly file?: File
  /** Why it is ignored, if the user should know. */
  readonly problem?: string
}

/**
 * Examines a file, and reads it if it has changed since `before`. A file modified less than
 * `settleMs` ago may be half written: it has neither content nor problem. `parse` may refuse the
 * text.
 */
export function lookAtFile<File>(
  folder: string,
  path: string,
  before: SeenFile<File> | undefined,
  settleMs: number,
  parse: (text: string, path: string) => File,
): SeenFile<File> | undefined {
  const stats = findStats(join(folder, path))
  if (!stats) return undefined
  if (stats instanceof Error) return { mark: "", problem: toProblem(path, stats) }
  const mark = toMark(stats)
  if (before?.mark === mark) return before
  if (isRecent(stats, settleMs)) return { mark: "" }
  if (stats.isSymbolicLink()) return { mark, problem: `Cannot save "${path}": it is a link` }
  if (!stats.isFile()) return { mark, problem: `Cannot save "${path}": it is not a regular file` }
  return read(folder, path, mark, parse)
}

/** The error if the folder of a file may only be listed: such a file is not deleted. */
function findStats(path: string): Stats | Error | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    return error as Error
  }
}

function toProblem(path: string, { message }: Error): string {
  return `Cannot save "${path}": ${message}`
}

/** Judged by ctime, which programs cannot set; a ctime in the future comes from another clock. */
function isRecent({ ctimeMs, size }: Stats, settleMs: number): boolean {
  // ctime has fractions of a millisecond, and Date.now() has not.
  const ageMs = Date.now() + 1 - ctimeMs
  // Many programs truncate a file first and fill it later.
  return ageMs < (size === 0 ? settleMs * emptyFactor : settleMs) && ageMs > -futureMsMin
}

const futureMsMin = 1_000
const emptyFactor = 10

function read<File>(
  folder: string,
  path: string,
  mark: string,
  parse: (text: string, path: string) => File,
): SeenFile<File> {
  try {
    const text = readWhole(join(folder, path), path, mark)
    return text === undefined ? { mark: "" } : { mark, file: parse(text, path) }
  } catch (error) {
    if (error instanceof CliError) return { mark, problem: toFailure(error)?.text ?? error.message }
    // The file was deleted, or may not be read.
    const isGone = (error as NodeJS.ErrnoException).code === "ENOENT"
    return isGone ? { mark: "" } : { mark: "", problem: toProblem(path, error as Error) }
  }
}

/** The text of exactly the file that was examined, or undefined if it has changed. */
function readWhole(fullPath: string, path: string, mark: string): string | undefined {
  const file = openSync(fullPath, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const stats = fstatSync(file)
    if (toMark(stats) !== mark) return undefined
    if (stats.size > limits.inputBytesMax)
      throw new CliError(
        "failed",
        `Cannot save "${path}": it is larger than ${limits.inputBytesMax} bytes`,
      )
    const bytes = readFileSync(file)
    return toMark(fstatSync(file)) === mark ? toText(bytes, `"${path}"`, "save") : undefined
  } finally {
    closeSync(file)
  }
}

function toMark({ ino, size, mtimeMs, ctimeMs, mode }: Stats): string {
  return [ino, size, mtimeMs, ctimeMs, mode].join(" ")
}

/** The known paths that are gone, sorted into those that are missing and those that may come back. */
export interface Missing {
  /** Paths that have been gone for a while. */
  readonly missing: ReadonlySet<string>
  /** Whether all files have settled. */
  readonly isClear: boolean
  /** Whether new files can be told from moved ones. */
  readonly isSorted: boolean
}

/** Remembers since when paths are gone: many editors save a file by replacing it. */
export function createMissing(
  settleMs: number,
): (gone: readonly string[], isBusy: boolean) => Missing {
  let goneSince = new Map<string, number>()
  return (gone, isBusy) => {
    const nowMs = Date.now()
    goneSince = new Map(gone.map((path) => [path, goneSince.get(path) ?? nowMs]))
    const isGoneFor = (ms: number) => (path: string) => nowMs - (goneSince.get(path) ?? nowMs) >= ms
    // A new file may be a missing one under another name: which one is clear only when all files
    // have settled, or after a time limit.
    const isClear = !isBusy && gone.every(isGoneFor(settleMs))
    const isSorted = isClear || gone.some(isGoneFor(limits.watchSettleMsMax))
    return {
      missing: new Set(isSorted ? gone.filter(isGoneFor(settleMs)) : []),
      isClear,
      isSorted,
    }
  }
}
