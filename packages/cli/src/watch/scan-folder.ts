import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { CliError } from "../cli-error.ts"
import type { FrontMatter } from "../files/front-matter.ts"
import { hashReadme, isReadmePath } from "../files/readme-file.ts"
import { hashText, isValFile, parseValFile } from "../files/val-file.ts"
import { limits } from "../limits.ts"
import { isConflictPath } from "./paths.ts"
import type { FileFacts } from "./plan/decide.ts"
import { createMissing, lookAtFile, type SeenFile } from "./settled-file.ts"

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

interface Content {
  readonly file?: FoundFile
  readonly readmeHash?: string
}

type Seen = SeenFile & Content

/**
 * Creates a scanner. Files modified less than `settleMs` ago are ignored: they may be half written.
 */
export function createScanner(folder: string, settleMs: number): Scanner {
  let seen = new Map<string, Seen>()
  const findMissing = createMissing(settleMs)
  let identities = new Map<string, string>()
  return {
    scan(known) {
      const next = new Map<string, Seen>()
      const files = new Map<string, FoundFile>()
      const blocked = new Map<string, string | undefined>()
      // A readme that was just removed may come back: many editors save that way.
      const readmes = new Map<string, FoundReadme>(
        [...seen.keys()].filter(isReadmePath).map((path) => [path, {}]),
      )
      for (const path of listPaths(folder)) {
        const found = lookAtFile<Content>(folder, path, seen.get(path), settleMs, (text) =>
          parse(text, path),
        )
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
      const isBusy = [...blocked.values()].includes(undefined)
      const { missing, isClear, isSorted } = findMissing(gone, isBusy)
      if (gone.length > 0 && !isSorted)
        for (const path of files.keys()) if (!wanted.has(path)) blocked.set(path, undefined)
      for (const path of blocked.keys()) files.delete(path)
      const isReadmeBusy = [...readmes.values()].some(
        ({ hash, problem }) => hash === undefined && problem === undefined,
      )
      return {
        files,
        blocked,
        missing,
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

function parse(text: string, path: string): Content {
  if (isReadmePath(path)) return { readmeHash: hashReadme(text) }
  const { name, front, hash, code } = parseValFile(text, path)
  if (code === "") throw new CliError("failed", `Cannot make a val of "${path}": it is empty`)
  const { privacy, type } = front
  return { file: { path, front, hash, name, privacy, type, codeHash: hashText(code) } }
}
