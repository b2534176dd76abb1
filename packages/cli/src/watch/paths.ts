import { basename, dirname, extname, join } from "node:path"
import { isValName } from "../files/front-matter.ts"
import { toExtension } from "../files/val-file.ts"

const conflictPattern = /\.conflict-\d{1,9}\.tsx?$/

/** Whether a file holds the other side of a conflict; such a file is for people. */
export function isConflictPath(path: string): boolean {
  return conflictPattern.test(path)
}

/** The n-th conflict file beside a file. */
export function toConflictPath(path: string, n: number): string {
  const extension = extname(path)
  return `${path.slice(0, -extension.length)}.conflict-${n}${extension}`
}

/** The name of a file without its ending. */
export function toStem(path: string): string {
  return basename(path, extname(path))
}

/** Names of vals are the same whatever their case, and on many systems those of files are too. */
export function isSameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

/** The name that a renamed file asks for: its new one, if it was called after its val before. */
export function toNewValName(before: string, after: string, name: string): string | undefined {
  const stem = toStem(after)
  return isSameName(toStem(before), name) && !isSameName(toStem(before), stem) && isValName(stem)
    ? stem
    : undefined
}

/**
 * Where the file of a renamed val should be: a file that is called after its val is renamed with
 * it.
 */
export function toRenamedPath(path: string, before: string, after: string): string {
  return isSameName(toStem(path), before) ? join(dirname(path), after + extname(path)) : path
}

/** A path in the folder for a val that has no file yet. `isTaken` knows paths in whatever case. */
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
