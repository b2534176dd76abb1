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
import { CliError } from "../cli-error.ts"
import { hashText } from "../files/val-file.ts"
import { writeFileWhole } from "../files/write-file.ts"
import { toConflictPath } from "./paths.ts"

/**
 * The result of changing a file: `raced` if another program changed it first, and nothing was done.
 */
export type FileChangeResult = "done" | "raced"

/** Creates a file atomically, unless it exists. */
export function makeFile(folder: string, path: string, text: string): FileChangeResult {
  const target = join(folder, path)
  const temporary = toTemporary(folder, "new")
  writeFileWhole(temporary, text)
  try {
    mkdirSync(dirname(target), { recursive: true })
    linkSync(temporary, target)
    return "done"
  } catch (error) {
    if (isExistsError(error) || existsSync(target)) return "raced"
    // The file system has no hard links.
    renameSync(temporary, target)
    return "done"
  } finally {
    rmSync(temporary, { force: true })
  }
}

/**
 * Replaces a file that has the given hash. Readers see either the old or the new text. If another
 * program writes in the instant between comparing and replacing, its text is passed to `onLate`.
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
    // First, because it waits for the disk; the rest takes microseconds.
    writeFileWhole(temporary, text, toMode(target))
    if (findHash(target) !== hash) return "raced"
    const isLinked = link(target, before)
    if (!isLinked && !existsSync(target)) return "raced"
    renameSync(temporary, target)
    const late = isLinked ? readFileSync(before, "utf8") : undefined
    if (late !== undefined && hashText(late) !== hash) onLate(late)
    return "done"
  } finally {
    rmSync(temporary, { force: true })
    rmSync(before, { force: true })
  }
}

/** Moves a file, unless the target exists or the file has changed. */
export function moveFile(folder: string, from: string, to: string, hash: string): FileChangeResult {
  const [source, target] = [join(folder, from), join(folder, to)]
  if (findHash(source) !== hash) return "raced"
  mkdirSync(dirname(target), { recursive: true })
  if (!link(source, target)) {
    if (existsSync(target)) return "raced"
    renameSync(source, target)
    return "done"
  }
  // Another file may have been saved under the old name meanwhile: that one stays, and nothing has
  // moved.
  const isSame = lstatSync(source).ino === lstatSync(target).ino
  rmSync(isSame ? source : target)
  return isSame ? "done" : "raced"
}

/**
 * Writes a text to the first free conflict file, or reuses one with the same text. Returns its
 * path.
 */
export function writeConflictFile(folder: string, path: string, text: string): string {
  for (let n = 1; ; n++) {
    const conflict = toConflictPath(path, n)
    if (findHash(join(folder, conflict)) === hashText(text)) return conflict
    if (makeFile(folder, conflict, text) === "done") return conflict
  }
}

/** Writes a text to the trash. Returns its path. */
export function writeToTrash(folder: string, name: string, text: string): string {
  for (let n = 1; ; n++) {
    const path = toTrashPath(name, n)
    if (makeFile(folder, path, text) === "done") return path
  }
}

/** Moves a file or a folder to the trash. Returns its path there. */
export function moveToTrash(folder: string, path: string): string {
  const target = findTrashPath(folder, path.replaceAll(/[/\\]/g, "-"))
  renameSync(join(folder, path), join(folder, target))
  return target
}

/** Finds a free path in the trash. */
export function findTrashPath(folder: string, name: string): string {
  mkdirSync(join(folder, ".hamlet", "trash"), { recursive: true })
  for (let n = 1; ; n++) {
    const path = toTrashPath(name, n)
    if (!existsSync(join(folder, path))) return path
  }
}

/** Cleans up after a watcher that was killed. Texts that were being replaced move to the trash. */
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

/** The hash of a file, if it exists. */
function findHash(path: string): string | undefined {
  try {
    return hashText(readFileSync(path, "utf8"))
  } catch {
    return undefined
  }
}

/** The mode of a file, if it exists. */
function toMode(path: string): number | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  return stats && stats.mode & 0o777
}

let count = 0
function toTemporary(folder: string, kind: string): string {
  // One that was renamed meanwhile must not come back.
  if (!existsSync(folder))
    throw new CliError("failed", `Cannot write to "${folder}": the folder is gone`)
  count += 1
  return join(folder, ".hamlet", `${process.pid}-${count}.${kind}`)
}

/**
 * Creates a hard link, by which the file can be read after its first name is replaced. Returns
 * false where the file system has none.
 */
function link(path: string, second: string): boolean {
  try {
    linkSync(path, second)
    return true
  } catch {
    return false
  }
}

function isExistsError(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "EEXIST"
}
