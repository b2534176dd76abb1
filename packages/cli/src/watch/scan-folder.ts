import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  type Stats,
} from "node:fs"
import { join } from "node:path"
import { CliError } from "../cli-error.ts"
import type { FrontMatter } from "../files/front-matter.ts"
import { hashReadme, isReadmePath } from "../files/readme-file.ts"
import { hashText, isValFile, parseValFile } from "../files/val-file.ts"
import { limits } from "../limits.ts"
import { toText } from "../terminal/read-input.ts"
import { isConflictPath } from "./paths.ts"
import type { FileFacts } from "./plan/decide.ts"

/**
 * A file in the folder. Its text is read again when it is needed: a folder may contain thousands.
 */
export interface FoundFile extends FileFacts {
  /** Relative to the folder. */
  readonly path: string
  readonly front: FrontMatter
  readonly hash: string
}

/**
 * A readme in the folder. Without a hash it is ignored; `problem` says why, unless it has just
 * changed.
 */
export interface FoundReadme {
  readonly hash?: string
  readonly problem?: string
}

/** The content of a folder. */
export interface Scan {
  readonly files: ReadonlyMap<string, FoundFile>
  /** Files that are ignored, and why; undefined if they have just changed. */
  readonly blocked: ReadonlyMap<string, string | undefined>
  /** The known paths that have been missing for a while. */
  readonly missing: ReadonlySet<string>
  /** Identities of files that survive renames; also of files in the last scan. */
  readonly identities: ReadonlyMap<string, string>
  /** Keyed by the path of the readme. */
  readonly readmes: ReadonlyMap<string, FoundReadme>
  /** Whether files are still being written, so that another scan is needed soon. */
  readonly isUnsettled: boolean
}

/** Scans a folder, and caches what it has read: an unchanged file is not read again. */
export interface Scanner {
  scan(known: Iterable<string>): Scan
}

interface Seen {
  /** Differs whenever the file has changed; empty if it must be read again. */
  readonly mark: string
  readonly identity: string
  readonly file?: FoundFile
  readonly readmeHash?: string
  /** Why it is ignored, if the user should know. */
  readonly problem?: string
}

/**
 * Creates a scanner. Files modified less than `settleMs` ago are ignored: they may be half written.
 */
export function createScanner(folder: string, settleMs: number): Scanner {
  let seen = new Map<string, Seen>()
  let missingSince = new Map<string, number>()
  let identities = new Map<string, string>()
  return {
    scan(known) {
      const nowMs = Date.now()
      const next = new Map<string, Seen>()
      const files = new Map<string, FoundFile>()
      const blocked = new Map<string, string | undefined>()
      // A readme that was just removed may come back: many editors save that way.
      const readmes = new Map<string, FoundReadme>(
        [...seen.keys()].filter(isReadmePath).map((path) => [path, {}]),
      )
      for (const path of listPaths(folder)) {
        const found = look(folder, path, seen.get(path), settleMs)
        if (found === undefined) continue
        next.set(path, found)
        if (isReadmePath(path)) {
          readmes.set(path, toFoundReadme(found))
          continue
        }
        if (found.identity !== "") identities.set(path, found.identity)
        if (found.file) files.set(path, found.file)
        else blocked.set(path, found.problem)
      }
      seen = next
      const wanted = new Set(known)
      const gone = [...wanted].filter((path) => !files.has(path) && !blocked.has(path))
      identities = new Map([...identities].filter(([path]) => next.has(path) || wanted.has(path)))
      missingSince = new Map(gone.map((path) => [path, missingSince.get(path) ?? nowMs]))
      const isGoneFor = (ms: number) => (path: string) =>
        nowMs - (missingSince.get(path) ?? nowMs) >= ms
      const isBusy = [...blocked.values()].includes(undefined)
      // A new file may be a missing one under another name: which one is clear only when all files
      // have settled, or after a time limit.
      const isClear = !isBusy && gone.every(isGoneFor(settleMs))
      const isSorted = isClear || gone.some(isGoneFor(limits.watchSettleMsMax))
      const missing = isSorted ? gone.filter(isGoneFor(settleMs)) : []
      if (gone.length > 0 && !isSorted)
        for (const path of files.keys()) if (!wanted.has(path)) blocked.set(path, undefined)
      for (const path of blocked.keys()) files.delete(path)
      const isReadmeBusy = [...readmes.values()].some(
        ({ hash, problem }) => hash === undefined && problem === undefined,
      )
      return {
        files,
        blocked,
        missing: new Set(missing),
        identities,
        readmes,
        isUnsettled: !isClear || isReadmeBusy,
      }
    },
  }
}

function toFoundReadme({ readmeHash, problem }: Seen): FoundReadme {
  return {
    ...(readmeHash !== undefined && { hash: readmeHash }),
    ...(problem !== undefined && { problem }),
  }
}

/**
 * The files that can be vals, and readmes. Skips names that start with a dot, and folders that are
 * watched by themselves.
 */
function listPaths(folder: string): readonly string[] {
  const paths: string[] = []
  const visit = (inner: string) => {
    for (const entry of readFolder(join(folder, inner), inner === "")) {
      const path = join(inner, entry.name)
      if (entry.name.startsWith(".") || entry.name === "node_modules") continue
      if (entry.isDirectory() && !existsSync(join(folder, path, ".hamlet"))) visit(path)
      else if (!entry.isDirectory() && isWatched(path)) paths.push(path)
      if (paths.length > limits.watchFilesMax)
        throw new CliError(
          "failed",
          `Cannot watch "${folder}": it has more than ${limits.watchFilesMax} files`,
        )
    }
  }
  visit("")
  return paths.sort()
}

function isWatched(path: string): boolean {
  return (isValFile(path) && !isConflictPath(path)) || isReadmePath(path)
}

function readFolder(folder: string, isRoot: boolean) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (cause) {
    // A subfolder may disappear during the scan; without the root, every file would seem to be
    // deleted.
    if (!isRoot) return []
    throw new CliError("notFound", `Cannot watch "${folder}": ${(cause as Error).message}`, {
      cause,
    })
  }
}

function look(
  folder: string,
  path: string,
  before: Seen | undefined,
  settleMs: number,
): Seen | undefined {
  const stats = lstatSync(join(folder, path), { throwIfNoEntry: false })
  if (!stats) return undefined
  const mark = toMark(stats)
  if (before?.mark === mark) return before
  // An inode number may be reused later, but with another birth time.
  const identity = stats.birthtimeMs > 0 ? `${stats.ino} ${stats.birthtimeMs}` : ""
  if (isRecent(stats, settleMs)) return { mark: "", identity }
  if (stats.isSymbolicLink())
    return { mark, identity, problem: `Cannot watch "${path}": it is a link` }
  if (!stats.isFile())
    return { mark, identity, problem: `Cannot watch "${path}": it is not a regular file` }
  return { identity, ...read(folder, path, mark) }
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

function read(folder: string, path: string, mark: string): Omit<Seen, "identity"> {
  try {
    const text = readWhole(join(folder, path), path, mark)
    if (text === undefined) return { mark: "" }
    if (isReadmePath(path)) return { mark, readmeHash: hashReadme(text) }
    const { name, front, hash, code } = parseValFile(text, path)
    if (code === "") return { mark, problem: `Cannot make a val of "${path}": it is empty` }
    return {
      mark,
      file: {
        path,
        front,
        hash,
        name,
        privacy: front.privacy,
        type: front.type,
        codeHash: hashText(code),
      },
    }
  } catch (error) {
    if (error instanceof CliError)
      return {
        mark,
        problem: error.advice === undefined ? error.message : `${error.message}; ${error.advice}`,
      }
    // It was deleted, or may not be read.
    const isGone = (error as NodeJS.ErrnoException).code === "ENOENT"
    return isGone
      ? { mark: "" }
      : { mark: "", problem: `Cannot read "${path}": ${(error as Error).message}` }
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
        `Cannot read "${path}": it is larger than ${limits.inputBytesMax} bytes`,
      )
    const bytes = readFileSync(file)
    return toMark(fstatSync(file)) === mark ? toText(bytes, `"${path}"`) : undefined
  } finally {
    closeSync(file)
  }
}

function toMark({ ino, size, mtimeMs, ctimeMs, mode }: Stats): string {
  return [ino, size, mtimeMs, ctimeMs, mode].join(" ")
}
