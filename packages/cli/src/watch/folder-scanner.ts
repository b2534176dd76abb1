import { type Dirent, readdirSync } from "node:fs"
import { join } from "node:path"
import { CliError } from "../cli-error.ts"
import { limits } from "../limits.ts"
import { toParents } from "./paths.ts"
import { createMissing, lookAtFile, type SeenFile } from "./settled-file.ts"

/**
 * What is known of a file. Its text is read again when it is needed: a folder may contain thousands.
 */
interface Entry {
  readonly hash: string
}

/** The content of a folder. Paths are relative to it, with slashes. */
export interface FolderScan<File extends Entry> {
  readonly files: ReadonlyMap<string, File>
  /** Files that are neither read nor written, and why; undefined if they have just changed. */
  readonly blocked: ReadonlyMap<string, string | undefined>
  /** The known paths that have been missing for a while. */
  readonly missing: ReadonlySet<string>
  /** Changes when anything in the folder does. */
  readonly mark: string
  /** Whether files are still being written, so that another scan is needed soon. */
  readonly isUnsettled: boolean
}

/** Which files a folder can contain, and what they are. */
export interface FolderRules<File extends Entry> {
  /** Whether a path is left out; that of a folder ends in a slash. */
  isIgnored(path: string): boolean
  /** Why a path cannot be synchronised, whatever it contains. */
  findProblem(path: string, isFolder: boolean): string | undefined
  /** May refuse the text. */
  parse(text: string, path: string): File
  /** The file that lists paths to leave out, if there is one. */
  readonly ignoreFile?: string
}

/** Scans a folder, and caches what it has read: an unchanged file is not read again. */
export interface FolderScanner<File extends Entry> {
  scan(known: Iterable<string>): FolderScan<File>
}

/**
 * Creates a scanner. Files modified less than `settleMs` ago are ignored for now: they may be half
 * written.
 */
export function createFolderScanner<File extends Entry>(
  folder: string,
  settleMs: number,
  toRules: (known: ReadonlySet<string>) => FolderRules<File>,
): FolderScanner<File> {
  let seen = new Map<string, SeenFile<File>>()
  const findMissing = createMissing(settleMs)
  return {
    scan(known) {
      const wanted = new Set(known)
      const rules = toRules(wanted)
      const { paths, blocked } = listPaths(folder, rules)
      const files = new Map<string, File>()
      const next = new Map<string, SeenFile<File>>()
      for (const path of paths) {
        const found = lookAtFile(folder, path, seen.get(path), settleMs, rules.parse)
        if (!found) continue
        next.set(path, found)
        if (found.file) files.set(path, found.file)
        else blocked.set(path, found.problem && addAdvice(rules, found.problem, path))
      }
      const isThere = (path: string) =>
        next.has(path) || [path, ...toParents(path)].some((one) => blocked.has(one))
      // What was there a moment ago may come back: many editors save a file by replacing it.
      for (const path of seen.keys())
        if (!isThere(path) && !wanted.has(path)) blocked.set(path, undefined)
      seen = next
      const gone = [...wanted].filter((path) => !isThere(path))
      const { missing, isClear, isSorted } = findMissing(
        gone,
        [...blocked.values()].includes(undefined),
      )
      if (gone.length > 0 && !isSorted)
        for (const path of files.keys()) if (!wanted.has(path)) blocked.set(path, undefined)
      // What is below something that is not a folder is neither there nor missing.
      for (const path of wanted)
        if (!files.has(path) && !missing.has(path) && !blocked.has(path))
          blocked.set(path, undefined)
      for (const path of blocked.keys()) files.delete(path)
      const mark = toMark(files, blocked, missing)
      return { files, blocked, missing, mark, isUnsettled: !isClear }
    },
  }
}

function toMark(
  files: ReadonlyMap<string, Entry>,
  blocked: FolderScan<Entry>["blocked"],
  missing: ReadonlySet<string>,
): string {
  const seen = [...files].map(([path, { hash }]) => `${path} ${hash}`)
  return Bun.hash(
    [...seen, "blocked", ...[...blocked].flat(), "missing", ...missing].join("\n"),
  ).toString(36)
}

function listPaths(folder: string, rules: Omit<FolderRules<Entry>, "parse">) {
  const paths: string[] = []
  const blocked = new Map<string, string | undefined>()
  const visit = (inner: string) => {
    for (const entry of readFolder(folder, inner)) {
      const path = inner === "" ? entry.name : `${inner}/${entry.name}`
      const isFolder = entry.isDirectory()
      if (rules.isIgnored(isFolder ? `${path}/` : path)) continue
      const problem = rules.findProblem(path, isFolder)
      if (problem !== undefined) blocked.set(path, addAdvice(rules, problem, path))
      else if (isFolder) visit(path)
      else paths.push(path)
      if (paths.length + blocked.size > limits.watchFilesMax)
        throw new CliError(
          "failed",
          `Cannot read "${folder}": it has more than ${limits.watchFilesMax} files`,
          {
            advice:
              rules.ignoreFile && `list what does not belong to the val in ${rules.ignoreFile}`,
          },
        )
    }
  }
  visit("")
  return { paths: paths.sort(), blocked }
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

function addAdvice(
  { ignoreFile }: Pick<FolderRules<Entry>, "ignoreFile">,
  problem: string,
  path: string,
): string {
  return ignoreFile === undefined
    ? problem
    : `${problem}; to leave it out, add "${path}" to ${ignoreFile}`
}
