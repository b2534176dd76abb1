import { basename, extname } from "node:path"

const conflictPattern = /\.conflict-\d{1,9}(?:\.[^./\\]+)?$/

/** Whether a path is that of a conflict file or folder; those are for people and never synced. */
export function isConflictPath(path: string): boolean {
  return conflictPattern.test(path)
}

/** The path of the n-th conflict file beside a file. */
export function toConflictPath(path: string, n: number): string {
  const extension = extname(path)
  return `${path.slice(0, path.length - extension.length)}.conflict-${n}${extension}`
}

/** The folders that a path with slashes is in, outermost first. */
export function toParents(path: string): readonly string[] {
  return [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index))
}

/** The file name without its extension. */
export function toStem(path: string): string {
  return basename(path, extname(path))
}

/** Names of vals ignore case, and on many systems so do those of files. */
export function isSameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}
