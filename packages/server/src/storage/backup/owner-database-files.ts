import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { open } from "node:fs/promises"
import { basename, join } from "node:path"
import { backup, DatabaseSync } from "node:sqlite"
import { AppError } from "../../domain/app-error.ts"

const limits = {
  /** Bytes read at a time. */
  pieceBytes: 1_048_576,
  /** How long to wait for a writer. */
  busyMsMax: 30_000,
  /** A copy of this age was left by a process that was killed. */
  leftoverMsMax: 86_400_000,
}

const namePattern = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.db$/
const copyPrefix = ".backup-"

/** The database file of a user. */
export interface OwnerDatabaseFile {
  readonly ownerId: string
  readonly path: string
  readonly bytes: number
}

/** The databases in the folder. Empty where there is no such folder. */
export function listOwnerDatabases(folder: string): readonly OwnerDatabaseFile[] {
  return namesIn(folder).flatMap((name) => {
    const [, ownerId] = namePattern.exec(name) ?? []
    const path = join(folder, name)
    return ownerId === undefined
      ? []
      : [{ ownerId, path, bytes: statSync(path, { throwIfNoEntry: false })?.size ?? 0 }]
  })
}

/**
 * Why a database cannot be read; undefined when it can. Reads only its first pages, so that checking
 * all of them costs little.
 */
export function findDamage({ path }: OwnerDatabaseFile): string | undefined {
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

/** A database of a user that cannot be backed up. */
export class OwnerDatabaseDamaged extends AppError {
  constructor(file: OwnerDatabaseFile, username: string, reason: string) {
    super(
      "database_damaged",
      `Cannot back up the database of user "${username}": ${reason} (${basename(file.path)}); with skipDamaged the backup leaves it out`,
    )
  }
}

/**
 * The bytes of a database as it is at one moment. SQLite copies it page by page: no code of the user
 * runs, and row ids stay the same.
 */
export async function* readOwnerDatabase(
  file: OwnerDatabaseFile,
  folder: string,
  username: string,
): AsyncGenerator<Uint8Array, void> {
  removeLeftovers(folder)
  const copyFolder = mkdtempSync(join(folder, copyPrefix))
  try {
    const copy = join(copyFolder, "copy.db")
    await copyDatabase(file, copy, username)
    yield* readFile(copy)
  } finally {
    rmSync(copyFolder, { recursive: true, force: true })
  }
}

async function copyDatabase(file: OwnerDatabaseFile, to: string, username: string): Promise<void> {
  let source: DatabaseSync | undefined
  try {
    source = new DatabaseSync(file.path, {
      timeout: limits.busyMsMax,
      allowExtension: false,
      defensive: true,
    })
    // All pages in one step: with several steps, a write in between would make it start again.
    await backup(source, to, { rate: 2 ** 31 - 1 })
  } catch (error) {
    throw new OwnerDatabaseDamaged(
      file,
      username,
      error instanceof Error ? error.message : String(error),
    )
  } finally {
    source?.close()
  }
}

async function* readFile(path: string): AsyncGenerator<Uint8Array, void> {
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

function removeLeftovers(folder: string): void {
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
