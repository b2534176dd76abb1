import { mkdtempSync, rmSync } from "node:fs"
import { type FileHandle, open } from "node:fs/promises"
import { join } from "node:path"
import {
  createLibsqlRegistry,
  createLibsqlServer,
  type LibsqlOptions,
  type LibsqlServer,
  LibsqlUnavailable,
  openLibsqlStream,
  toInteger,
  toNamespace,
} from "@hamlet/owner-databases"
import { AppError } from "../../../domain/app-error.ts"
import { copyPrefix, readFile, removeLeftovers } from "./database-files.ts"
import { OwnerDatabaseDamaged, type OwnerDatabaseSource } from "./owner-database-source.ts"

/** Pages per request: 2 MB. */
const pagesMax = 512

/**
 * The databases on a libSQL server. Their pages are read as they are: no code of the user runs, row
 * ids stay the same, and the result is an ordinary database file. It is copied to `folder` first,
 * because the server does not wait for a slow client.
 */
export function createLibsqlSource(options: LibsqlOptions, folder: string): OwnerDatabaseSource {
  const server = createLibsqlServer(options)
  const registry = createLibsqlRegistry(server)
  return {
    async *list() {
      for await (const page of translated(registry.listAll()))
        for (const database of page) yield { ...database, place: toNamespace(database) }
    },
    findDamage: () => Promise.resolve(undefined),
    async *read(database, name) {
      const copyFolder = mkdtempSync(join(folder, copyPrefix))
      try {
        const copy = join(copyFolder, "copy.db")
        const file = await open(copy, "wx", 0o600)
        try {
          await copyPages(server, database.place, file)
        } catch (error) {
          if (error instanceof LibsqlUnavailable && /malformed|not a database/.test(error.message))
            throw new OwnerDatabaseDamaged(database, name, error.message)
          throw toAppError(error)
        } finally {
          await file.close()
        }
        yield* readFile(copy)
      } finally {
        rmSync(copyFolder, { recursive: true, force: true })
      }
    },
    removeLeftovers: () => removeLeftovers(folder),
  }
}

async function copyPages(server: LibsqlServer, namespace: string, file: FileHandle) {
  const stream = openLibsqlStream(server, namespace)
  try {
    // Without a namespace there was no first statement, so that there is nothing to copy.
    const first = await stream.send([{ sql: "begin" }, { sql: "pragma page_count" }])
    const [count] = first?.[1]?.[0] ?? []
    const pages = count?.type === "integer" ? Number(count.value) : 0
    for (let at = 1; at <= pages; at += pagesMax) {
      const sql = "select data from sqlite_dbpage where pgno between ? and ? order by pgno"
      const args = [toInteger(at), toInteger(at + pagesMax - 1)]
      const [rows = []] = (await stream.send([{ sql, args }])) ?? []
      for (const [data] of rows)
        if (data?.type === "blob") await file.write(Buffer.from(data.base64, "base64"))
    }
  } finally {
    await stream.close()
  }
}

async function* translated<T>(pages: AsyncGenerator<T, void>): AsyncGenerator<T, void> {
  try {
    yield* pages
  } catch (error) {
    throw toAppError(error)
  }
}

/** A server that cannot be reached is not our error. */
function toAppError(error: unknown): unknown {
  if (!(error instanceof LibsqlUnavailable)) return error
  const message = `Cannot back up the databases of users: ${error.message}`
  return new AppError("database_unavailable", message, { cause: error })
}
