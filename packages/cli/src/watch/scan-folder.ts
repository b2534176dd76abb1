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
 * A file as it was found. Its text is read again when it is needed: a folder may have thousands of
 * them.
 */
export interface FoundFile extends FileFacts {
  /** In the folder. */
  readonly path: string
  readonly front: FrontMatter
  readonly hash: string
}

/**
 * A readme as it was found. Without a hash nothing is done about it; `problem` says why, unless it
 * is too early to say.
 */
export interface FoundReadme {
  readonly hash?: string
  readonly problem?: string
}

/** What is in a folder. */
export interface Scan {
  readonly files: ReadonlyMap<string, FoundFile>
  /** Files that nothing is done about, and why; undefined where it is too early to say. */
  readonly blocked: ReadonlyMap<string, string | undefined>
  /** Of the paths that were asked for, those that have not been there for a while. */
  readonly missing: ReadonlySet<string>
  /**
   * What the file system knows files by, whatever they are called; also those that were there the
   * last time.
   */
  readonly identities: ReadonlyMap<string, string>
  /** By the paths of the readmes. */
  readonly readmes: ReadonlyMap<string, FoundReadme>
  /** Whether something may be different in a moment. */
  readonly isUnsettled: boolean
}

/**
 * Looks through a folder, and remembers what it has seen: a file that is as it was is not read
 * again.
 */
export interface Scanner {
  scan(known: Iterable<string>): Scan
}

interface Seen {
  /** Another one whenever the file has changed; empty when it has to be read again. */
  readonly mark: string
  readonly identity: string
  readonly file?: FoundFile
  readonly readmeHash?: string
  /** Why nothing is done about it, if somebody should know. */
  readonly problem?: string
}

/**
 * A scanner for a folder. What was touched less than `settleMs` ago is left alone: its writer may
 * not have finished.
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
      // One that was there a moment ago may be about to come back: many editors save so.
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
      // A new file may be a missing one under another name: before all have come to rest, nobody
      // can tell which. Some never do.
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
 * The files of a folder that could be vals, and readmes. What begins with a dot is not for us, nor
 * what a folder within it watches by itself.
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
    // A folder within may go while it is looked at; without the folder itself every file would seem
    // to be deleted.
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
  // The number alone may be given to another file later, but then with another time.
  const identity = stats.birthtimeMs > 0 ? `${stats.ino} ${stats.birthtimeMs}` : ""
  if (isRecent(stats, settleMs)) return { mark: "", identity }
  if (stats.isSymbolicLink())
    return { mark, identity, problem: `Cannot watch "${path}": it is a link` }
  if (!stats.isFile()) return { mark, identity, problem: `Cannot watch "${path}": it is no file` }
  return { identity, ...read(folder, path, mark) }
}

/**
 * By the time of the last change of any kind, which nobody can set; what is from the future has a
 * clock of its own.
 */
function isRecent({ ctimeMs, size }: Stats, settleMs: number): boolean {
  // The time of files has parts of a millisecond, and that of the program has not.
  const ageMs = Date.now() + 1 - ctimeMs
  // Many writers empty a file first, and take their time to fill it.
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
    // It has gone, or may not be read.
    const isGone = (error as NodeJS.ErrnoException).code === "ENOENT"
    return isGone
      ? { mark: "" }
      : { mark: "", problem: `Cannot read "${path}": ${(error as Error).message}` }
  }
}

/** The text of the very file that was looked at, or nothing if it has changed since. */
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
