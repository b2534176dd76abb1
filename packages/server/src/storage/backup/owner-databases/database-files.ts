import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { open } from "node:fs/promises"
import { join } from "node:path"
import { backup, DatabaseSync } from "node:sqlite"
import type { StorageHome } from "../../../domain/storage-home.ts"
import {
  OwnerDatabaseDamaged,
  type OwnerDatabaseSource,
  type SourceDatabase,
} from "./owner-database-source.ts"

const limits = {
  /** Bytes read at a time. */
  pieceBytes: 1_048_576,
  /** How long to wait for a writer. */
  busyMsMax: 30_000,
  /** A copy of this age was left by a process that was killed. */
  leftoverMsMax: 86_400_000,
}

const idPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** What the folder of a copy is called. */
export const copyPrefix = ".backup-"

/** The databases in a folder. */
export function createFileSource(folder: string): OwnerDatabaseSource {
  return {
    async *list() {
      yield* listOwnerDatabases(folder)
    },
    findDamage: (database) => Promise.resolve(findDamage(database)),
    read: (database, name) => readOwnerDatabase(database, folder, name),
    removeLeftovers: () => removeLeftovers(folder),
  }
}

/**
 * The databases in the folder: those of users, and in a folder for each user those of the vals.
 * Empty where there is no such folder.
 */
export function listOwnerDatabases(folder: string): readonly SourceDatabase[] {
  return namesIn(folder).flatMap((name) => {
    const ownerId = toId(name)
    if (ownerId !== undefined) return [toFile(join(folder, name), { ownerId })]
    if (!idPattern.test(name)) return []
    return namesIn(join(folder, name)).flatMap((file) => {
      const valId = toId(file)
      return valId === undefined ? [] : [toFile(join(folder, name, file), { ownerId: name, valId })]
    })
  })
}

function toId(name: string): string | undefined {
  const id = name.replace(/\.db$/, "")
  return id !== name && idPattern.test(id) ? id : undefined
}

function toFile(path: string, home: StorageHome): SourceDatabase {
  return { ...home, place: path, bytes: statSync(path, { throwIfNoEntry: false })?.size ?? 0 }
}

/**
 * Why a database cannot be read; undefined when it can. Reads only its first pages, so that checking
 * all of them costs little.
 */
function findDamage({ place: path }: SourceDatabase): string | undefined {
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(path, {
      timeout: limits.busyMsMax,
      allowExtension: false,
      defensive: true,
    })
    database.prepare("select count(*) from sqlite_schema").all()
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    database?.close()
  }
}

/**
 * The bytes of a database as it is at one moment. SQLite copies it page by page: no code of the user
 * runs, and row ids stay the same.
 */
async function* readOwnerDatabase(
  file: SourceDatabase,
  folder: string,
  name: string,
): AsyncGenerator<Uint8Array, void> {
  const copyFolder = mkdtempSync(join(folder, copyPrefix))
  try {
    const copy = join(copyFolder, "copy.db")
    await copyDatabase(file, copy, name)
    yield* readFile(copy)
  } finally {
    rmSync(copyFolder, { recursive: true, force: true })
  }
}

async function copyDatabase(file: SourceDatabase, to: string, name: string): Promise<void> {
  let source: DatabaseSync | undefined
  try {
    source = new DatabaseSync(file.place, {
      timeout: limits.busyMsMax,
      allowExtension: false,
      defensive: true,
    })
    // All pages in one step: with several steps, a write in between would make it start again.
    await backup(source, to, { rate: 2 ** 31 - 1 })
  } catch (error) {
    throw new OwnerDatabaseDamaged(
      file,
      name,
      error instanceof Error ? error.message : String(error),
    )
  } finally {
    source?.close()
  }
}

/** The bytes of a file, in pieces. */
export async function* readFile(path: string): AsyncGenerator<Uint8Array, void> {
  const file = await open(path)
  try {
    for (;;) {
      const { bytesRead, buffer } = await file.read(
        Buffer.allocUnsafe(limits.pieceBytes),
        0,
        limits.pieceBytes,
        null,
      )
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await file.close()
  }
}

/** Deletes the copies that a killed backup has left. */
export function removeLeftovers(folder: string): void {
  for (const name of namesIn(folder)) {
    const path = join(folder, name)
    const at = name.startsWith(copyPrefix)
      ? statSync(path, { throwIfNoEntry: false })?.mtimeMs
      : undefined
    if (at !== undefined && Date.now() - at > limits.leftoverMsMax)
      rmSync(path, { recursive: true, force: true })
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort()
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return []
    throw error
  }
}
