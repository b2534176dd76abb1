import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { open } from "node:fs/promises"
import { join } from "node:path"
import { backup, DatabaseSync } from "node:sqlite"
import { AppError } from "../../domain/app-error.ts"

const limits = {
  /** What is read at a time. */
  pieceBytes: 1_048_576,
  /** How long to wait for somebody who writes. */
  busyMsMax: 30_000,
  /** Of a copy that is this old, whoever made it was killed. */
  leftoverMsMax: 86_400_000,
}

const namePattern = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.db$/
const copyPrefix = ".backup-"

/** A file in a folder of users' databases. */
export interface OwnerDatabaseFile {
  readonly ownerId: string
  readonly path: string
  readonly bytes: number
}

/** The databases that there are; none where there is no such folder. */
export function listOwnerDatabases(folder: string): readonly OwnerDatabaseFile[] {
  return namesIn(folder).flatMap((name) => {
    const [, ownerId] = namePattern.exec(name) ?? []
    const path = join(folder, name)
    return ownerId === undefined ? [] : [{ ownerId, path, bytes: statSync(path, { throwIfNoEntry: false })?.size ?? 0 }]
  })
}

/**
 * The bytes of a database as it is at one moment. They are those of a copy, which SQLite itself makes page by page: nothing that the user has
 * written is run, and row numbers stay what they are.
 */
export async function* readOwnerDatabase({ path, ownerId }: OwnerDatabaseFile, folder: string): AsyncGenerator<Uint8Array, void> {
  removeLeftovers(folder)
  const copyFolder = mkdtempSync(join(folder, copyPrefix))
  try {
    const copy = join(copyFolder, "copy.db")
    await copyDatabase(path, copy, ownerId)
    yield* readFile(copy)
  } finally {
    rmSync(copyFolder, { recursive: true, force: true })
  }
}

async function copyDatabase(from: string, to: string, ownerId: string): Promise<void> {
  let source: DatabaseSync | undefined
  try {
    source = new DatabaseSync(from, { timeout: limits.busyMsMax, allowExtension: false, defensive: true })
    // All pages in one step: with several, it would begin again whenever somebody writes in between.
    await backup(source, to, { rate: 2 ** 31 - 1 })
  } catch (cause) {
    throw new AppError(
      "database_unavailable",
      `Cannot back up the database of user ${ownerId}: ${cause instanceof Error ? cause.message : cause}`,
      {
        cause,
      },
    )
  } finally {
    source?.close()
  }
}

async function* readFile(path: string): AsyncGenerator<Uint8Array, void> {
  const file = await open(path)
  try {
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(limits.pieceBytes), 0, limits.pieceBytes, null)
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
    const at = name.startsWith(copyPrefix) ? statSync(path, { throwIfNoEntry: false })?.mtimeMs : undefined
    if (at !== undefined && Date.now() - at > limits.leftoverMsMax) rmSync(path, { recursive: true, force: true })
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
