import { basename, dirname, extname, join } from "node:path"
import { isValName } from "../files/front-matter.ts"
import { toExtension } from "../files/val-file.ts"

const conflictPattern = /\.conflict-\d{1,9}(?:\.[^./\\]+)?$/

/** Whether a path is that of a conflict file; those are for people and never synced. */
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

/** The new name for the val of a renamed file, if the file was named after the val. */
export function toNewValName(before: string, after: string, name: string): string | undefined {
  const stem = toStem(after)
  return isSameName(toStem(before), name) && !isSameName(toStem(before), stem) && isValName(stem)
    ? stem
    : undefined
}

/** The new path of a renamed val's file: a file named after its val is renamed with it. */
export function toRenamedPath(path: string, before: string, after: string): string {
  return isSameName(toStem(path), before) ? join(dirname(path), after + extname(path)) : path
}

/** Finds a free path for a val without a file. `isTaken` ignores case. */
export function findFreePath(
  name: string,
  code: string,
  isTaken: (path: string) => boolean,
): string {
  const extension = toExtension(code)
  for (let n = 1; ; n++) {
    const path = `${name}${n === 1 ? "" : `-${n}`}${extension}`
    if (!isTaken(path)) return path
  }
}
