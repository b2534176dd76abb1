import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { toReadmePath } from "../../files/readme-file.ts"
import { hashText } from "../../files/val-file.ts"
import { writeFileWhole } from "../../files/write-file.ts"
import { toConflictPath } from "../paths.ts"

/**
 * What became of an attempt to change a file: somebody else may have been faster, and then nothing
 * was done.
 */
export type FileChangeResult = "done" | "raced"

/** Makes a file whole or not at all, unless there is one. */
export function makeFile(folder: string, path: string, text: string): FileChangeResult {
  const target = join(folder, path)
  const temporary = toTemporary(folder, "new")
  writeFileWhole(temporary, text)
  try {
    mkdirSync(dirname(target), { recursive: true })
    linkSync(temporary, target)
    return "done"
  } catch (error) {
    if (isThere(error) || existsSync(target)) return "raced"
    // Not every file system has links.
    renameSync(temporary, target)
    return "done"
  } finally {
    rmSync(temporary, { force: true })
  }
}

/**
 * Puts a text into the place of a file that has the hash. Readers see the one or the other. What
 * somebody wrote in the very moment between looking and replacing is given to `onLate`.
 */
export function replaceFile(
  folder: string,
  path: string,
  hash: string,
  text: string,
  onLate: (text: string) => void,
): FileChangeResult {
  const target = join(folder, path)
  const [temporary, before] = [toTemporary(folder, "new"), toTemporary(folder, "old")]
  try {
    // First, because it waits for the disk: what follows takes microseconds.
    writeFileWhole(temporary, text, toMode(target))
    if (findHash(target) !== hash) return "raced"
    const isHeld = hold(target, before)
    if (!isHeld && !existsSync(target)) return "raced"
    renameSync(temporary, target)
    const late = isHeld ? readFileSync(before, "utf8") : undefined
    if (late !== undefined && hashText(late) !== hash) onLate(late)
    return "done"
  } finally {
    rmSync(temporary, { force: true })
    rmSync(before, { force: true })
  }
}

/** Moves a file, unless there is one already or it is not any more what it was. */
export function moveFile(folder: string, from: string, to: string, hash: string): FileChangeResult {
  const [source, target] = [join(folder, from), join(folder, to)]
  if (findHash(source) !== hash) return "raced"
  mkdirSync(dirname(target), { recursive: true })
  if (!hold(source, target)) {
    if (existsSync(target)) return "raced"
    renameSync(source, target)
    return "done"
  }
  // Somebody may have saved another file under the old name meanwhile: then that one stays, and
  // nothing has moved.
  const isSame = lstatSync(source).ino === lstatSync(target).ino
  rmSync(isSame ? source : target)
  return isSame ? "done" : "raced"
}

/** Moves a file, if there is one, unless the other place is taken. */
export function moveIfPresent(folder: string, from: string, to: string): void {
  const hash = findHash(join(folder, from))
  if (hash !== undefined) moveFile(folder, from, to, hash)
}

/**
 * Keeps a text in the first conflict file that is free; one that has it already will do. Gives its
 * path.
 */
export function writeConflictFile(folder: string, path: string, text: string): string {
  for (let n = 1; ; n++) {
    const conflict = toConflictPath(path, n)
    if (findHash(join(folder, conflict)) === hashText(text)) return conflict
    if (makeFile(folder, conflict, text) === "done") return conflict
  }
}

/** Puts a text into the trash. Gives its path. */
export function writeToTrash(folder: string, name: string, text: string): string {
  for (let n = 1; ; n++) {
    const path = toTrashPath(name, n)
    if (makeFile(folder, path, text) === "done") return path
  }
}

/** Moves a file into the trash. Gives its path there. */
export function moveToTrash(folder: string, path: string): string {
  mkdirSync(join(folder, ".hamlet", "trash"), { recursive: true })
  for (let n = 1; ; n++) {
    const target = toTrashPath(path.replaceAll(/[/\\]/g, "-"), n)
    if (existsSync(join(folder, target))) continue
    renameSync(join(folder, path), join(folder, target))
    return target
  }
}

/** Moves the readme beside a file into the trash, if there is one. */
export function moveReadmeToTrash(folder: string, path: string): void {
  if (existsSync(join(folder, toReadmePath(path)))) moveToTrash(folder, toReadmePath(path))
}

/** What somebody who was killed has left: a text that was about to be replaced is kept. */
export function sweepFolder(folder: string): void {
  const inner = join(folder, ".hamlet")
  if (!existsSync(inner)) return
  for (const name of readdirSync(inner)) {
    if (/^\d+-\d+\.new$/.test(name)) rmSync(join(inner, name))
    if (/^\d+-\d+\.old$/.test(name)) moveToTrash(folder, join(".hamlet", name))
  }
}

function toTrashPath(name: string, n: number): string {
  const day = new Date().toISOString().slice(0, 10)
  return join(".hamlet", "trash", n === 1 ? `${day}-${name}` : `${day}-${n}-${name}`)
}

/** The hash of a file's text, if it is there. */
function findHash(path: string): string | undefined {
  try {
    return hashText(readFileSync(path, "utf8"))
  } catch {
    return undefined
  }
}

/** Who may read a file. */
function toMode(path: string): number | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  return stats && stats.mode & 0o777
}

let count = 0
function toTemporary(folder: string, kind: string): string {
  count += 1
  return join(folder, ".hamlet", `${process.pid}-${count}.${kind}`)
}

/**
 * A second name for a file, by which it can be read after the first one leads elsewhere. Not every
 * file system has that.
 */
function hold(path: string, second: string): boolean {
  try {
    linkSync(path, second)
    return true
  } catch {
    return false
  }
}

function isThere(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "EEXIST"
}
