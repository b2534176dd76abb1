import { closeSync, openSync, readSync } from "node:fs"

/**
 * Of the two copies that SQLite keeps of the header of its WAL index, the first one, which it
 * writes last.
 */
const headerBytes = 48

/** Tells whether a database has changed. */
export interface ChangeCounter {
  /** A number that is another one whenever something was committed since, by whomever. */
  ask(): number
  /** Only when all connections of this process to the database are closed. */
  stop(): void
}

/**
 * Looks at the header of the WAL index, which every commit changes before it is acknowledged: a
 * counter, the last frame and its checksum are in it. That is a fourth of what `pragma
 * data_version` costs, which takes and gives back a lock each time. Undefined where there is no
 * such file.
 */
export function openChangeCounter(path: string): ChangeCounter | undefined {
  const file = share(`${path}-shm`)
  if (!file) return undefined
  const header = new Uint32Array(headerBytes / Uint32Array.BYTES_PER_ELEMENT)
  const known = new Uint32Array(header.length)
  let stamp = 0
  return {
    ask() {
      const isWhole = readSync(file.descriptor, header, 0, headerBytes, 0) === headerBytes
      if (isWhole && isSame(header, known)) return stamp
      known.set(header)
      return ++stamp
    },
    stop: () => unshare(file),
  }
}

interface SharedFile {
  readonly path: string
  readonly descriptor: number
  users: number
}

/**
 * By path. Whoever closes a file gives up all locks that the process has on it, those of SQLite
 * included: the file stays open for as long as there is a database of this process that uses it,
 * and is opened once for all of them.
 */
const files = new Map<string, SharedFile>()

function share(path: string): SharedFile | undefined {
  const known = files.get(path)
  if (known) {
    known.users++
    return known
  }
  try {
    const file = { path, descriptor: openSync(path, "r"), users: 1 }
    files.set(path, file)
    return file
  } catch {
    return undefined
  }
}

function unshare(file: SharedFile): void {
  file.users--
  if (file.users > 0) return
  files.delete(file.path)
  closeSync(file.descriptor)
}

function isSame(left: Uint32Array, right: Uint32Array): boolean {
  for (let index = 0; index < left.length; index++) if (left[index] !== right[index]) return false
  return true
}
