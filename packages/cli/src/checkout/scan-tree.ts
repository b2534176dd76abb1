import { type Dirent, existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { limits as apiLimits } from "@hamlet/contract/limits"
import { CliError } from "../cli-error.ts"
import { hashText } from "../files/val-file.ts"
import { limits } from "../limits.ts"
import { createMissing, lookAtFile, type SeenFile } from "../watch/settled-file.ts"
import { type IsIgnored, ignoreFile, readIgnoreRules } from "./ignore-rules.ts"
import { findLocalPathProblem } from "./local-paths.ts"

/** The files in the folder of one val. */
export interface TreeScan {
  /** The hash of each file, by its path with slashes. */
  readonly files: ReadonlyMap<string, string>
  /** Files that are neither read nor written, and why; undefined if they have just changed. */
  readonly blocked: ReadonlyMap<string, string | undefined>
  /** The known paths that have been missing for a while. */
  readonly missing: ReadonlySet<string>
  /** Whether files are still being written, so that another scan is needed soon. */
  readonly isUnsettled: boolean
}

/** Scans the folder of one val, and caches what it has read: an unchanged file is not read again. */
export interface TreeScanner {
  /** Files with a known path are found even if they are ignored. */
  scan(known: Iterable<string>): TreeScan
}

interface Content {
  readonly hash?: string
}

/** Creates a scanner. Files modified less than `settleMs` ago are ignored for now. */
export function createTreeScanner(folder: string, settleMs: number): TreeScanner {
  let seen = new Map<string, SeenFile & Content>()
  const findMissing = createMissing(settleMs)
  return {
    scan(known) {
      const wanted = new Set(known)
      const { paths, blocked } = listTree(folder, wanted)
      const next = new Map<string, SeenFile & Content>()
      const files = new Map<string, string>()
      for (const path of paths) {
        const found = lookAtFile<Content>(folder, path, seen.get(path), settleMs, (text) => ({
          hash: hashContent(text, path),
        }))
        if (!found) continue
        next.set(path, found)
        if (found.hash === undefined) blocked.set(path, toAdvice(found.problem, path))
        else files.set(path, found.hash)
      }
      seen = next
      const isBlocked = (path: string) => blocked.has(path) || hasBlockedParent(blocked, path)
      const gone = [...wanted].filter((path) => !files.has(path) && !isBlocked(path))
      const isBusy = [...blocked.values()].includes(undefined)
      const { missing, isClear, isSorted } = findMissing(gone, isBusy)
      if (gone.length > 0 && !isSorted)
        for (const path of files.keys()) if (!wanted.has(path)) blocked.set(path, undefined)
      // What is below something that is not a folder is neither there nor missing.
      for (const path of wanted)
        if (!files.has(path) && !missing.has(path) && !blocked.has(path))
          blocked.set(path, undefined)
      for (const path of blocked.keys()) files.delete(path)
      return { files, blocked, missing, isUnsettled: !isClear }
    },
  }
}

/** Refuses what a val cannot contain, before it is sent. */
function hashContent(text: string, path: string): string {
  if (text.includes("\0"))
    throw new CliError("failed", `Cannot save "${path}": it is not text, it contains NUL`)
  if (text.length > apiLimits.codeCharsMax)
    throw new CliError(
      "failed",
      `Cannot save "${path}": it has ${text.length} characters, and a file has at most ${apiLimits.codeCharsMax}`,
    )
  return hashText(text)
}

function toAdvice(problem: string | undefined, path: string): string | undefined {
  if (problem === undefined) return undefined
  return `${problem.replace(/^Cannot (?:watch|read) /, "Cannot save ")}; to leave it out, add "${path}" to ${ignoreFile}`
}

function hasBlockedParent(blocked: ReadonlyMap<string, unknown>, path: string): boolean {
  for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1))
    if (blocked.has(path.slice(0, end))) return true
  return false
}

function listTree(folder: string, wanted: ReadonlySet<string>) {
  const isIgnored = readIgnoreRules(folder)
  const paths: string[] = []
  const blocked = new Map<string, string | undefined>()
  const wantedFolders = toFolders(wanted)
  const visit = (inner: string) => {
    for (const entry of readFolder(folder, inner)) {
      const path = inner === "" ? entry.name : `${inner}/${entry.name}`
      if (isSkipped(path, entry, isIgnored, wanted, wantedFolders)) continue
      const problem = findLocalPathProblem(path)
      if (problem !== undefined)
        blocked.set(path, toAdvice(`Cannot save "${path}": the path ${problem}`, path))
      else if (!entry.isDirectory()) paths.push(path)
      else if (existsSync(join(folder, path, ".hamlet")))
        blocked.set(path, toAdvice(`Cannot save "${path}": it is the folder of another val`, path))
      else visit(path)
      if (paths.length + blocked.size > limits.watchFilesMax)
        throw new CliError(
          "failed",
          `Cannot read "${folder}": it has more than ${limits.watchFilesMax} files`,
          { advice: `list what does not belong to the val in ${ignoreFile}` },
        )
    }
  }
  visit("")
  return { paths: paths.sort(), blocked }
}

function isSkipped(
  path: string,
  entry: Dirent,
  isIgnored: IsIgnored,
  wanted: ReadonlySet<string>,
  wantedFolders: ReadonlySet<string>,
): boolean {
  if (!entry.isDirectory()) return !wanted.has(path) && isIgnored(path)
  return !wantedFolders.has(path) && isIgnored(`${path}/`)
}

/** All folders that the paths are in. */
function toFolders(paths: Iterable<string>): ReadonlySet<string> {
  const folders = new Set<string>()
  for (const path of paths)
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1))
      folders.add(path.slice(0, end))
  return folders
}

function readFolder(folder: string, inner: string): readonly Dirent[] {
  try {
    return readdirSync(join(folder, inner), { withFileTypes: true })
  } catch (cause) {
    // A subfolder may disappear during the scan. Without the root, or one that may not be read,
    // files would seem to be deleted.
    if (inner !== "" && (cause as NodeJS.ErrnoException).code === "ENOENT") return []
    const exit = inner === "" ? "notFound" : "failed"
    const problem = (cause as Error).message
    throw new CliError(exit, `Cannot read "${join(folder, inner)}": ${problem}`, { cause })
  }
}
