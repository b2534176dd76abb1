import { renameSync, rmSync } from "node:fs"
import { open } from "node:fs/promises"
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
import { syncPath } from "../databases/sqlite.ts"
import { RestoreRefused } from "../restore/loader.ts"
import { listOwnerDatabases } from "./database-files.ts"

/** Where a restore puts the databases of users. */
export interface DatabasePlace {
  /** Whether there are databases of users already. */
  isEmpty(): Promise<boolean>
  /** Moves the database files of a folder there. */
  place(folder: string): Promise<void>
  removeAll(): Promise<void>
  /** For messages. */
  readonly name: string
}

/** A folder of files. */
export function createFilePlace(ownerFolder: string): DatabasePlace {
  return {
    name: ownerFolder,
    isEmpty: () => Promise.resolve(listOwnerDatabases(ownerFolder).length === 0),
    async place(folder) {
      syncPath(folder)
      rmSync(ownerFolder, { recursive: true, force: true })
      renameSync(folder, ownerFolder)
    },
    async removeAll() {
      rmSync(ownerFolder, { recursive: true, force: true })
    },
  }
}

/** A libSQL server. */
export function createLibsqlPlace(options: LibsqlOptions): DatabasePlace {
  const server = createLibsqlServer(options)
  const registry = createLibsqlRegistry(server)
  return {
    name: "the libSQL server",
    isEmpty: () => reach(async () => (await registry.listAll().next()).done === true),
    place: (folder) =>
      reach(async () => {
        for (const database of listOwnerDatabases(folder)) {
          await registry.add(database)
          await server.createNamespace(toNamespace(database), limits.bytesMax)
          await uploadPages(server, toNamespace(database), database.place)
          await registry.setBytes([database])
        }
        rmSync(folder, { recursive: true, force: true })
      }),
    removeAll: () =>
      reach(async () => {
        for await (const page of registry.listAll())
          for (const database of page) {
            await server.removeNamespace(toNamespace(database))
            await registry.remove(database)
          }
      }),
  }
}

const limits = {
  /** The server that writes to a database first sets the limit of its owner. */
  bytesMax: 1024 ** 4,
  /** Pages per request: 1 MB. */
  pagesMax: 256,
}

const pageBytes = 4096

/** The part of the first page that says how the database is to be read. */
const header = { pageBytesAt: 16, versionsAt: 18, reservedAt: 20 }

/**
 * Writes the pages of a file over those of a new database, in one transaction. The server has no
 * other way to take a file from another machine, and only pages that exist can be written, so that a
 * table is created first that has as many. What is behind the last page is not part of the database.
 */
async function uploadPages(server: LibsqlServer, namespace: string, path: string): Promise<void> {
  const file = await open(path)
  const stream = openLibsqlStream(server, namespace)
  try {
    const pages = Math.ceil((await file.stat()).size / pageBytes)
    if (pages === 0) return
    await stream.send([
      { sql: "begin immediate" },
      { sql: "create table room (content)" },
      {
        sql: `insert into room with recursive numbers (number) as
          (select 1 union all select number + 1 from numbers limit ?) select zeroblob(4050) from numbers`,
        args: [toInteger(pages)],
      },
    ])
    for (let at = 1; at <= pages; at += limits.pagesMax) {
      const { buffer, bytesRead } = await file.read(
        Buffer.alloc(limits.pagesMax * pageBytes),
        0,
        limits.pagesMax * pageBytes,
        (at - 1) * pageBytes,
      )
      if (at === 1) prepareHeader(buffer)
      const count = Math.ceil(bytesRead / pageBytes)
      await stream.send(
        Array.from({ length: count }, (_, index) => ({
          sql: "update sqlite_dbpage set data = ? where pgno = ?",
          args: [
            { type: "blob", base64: toPage(buffer, index).toString("base64") },
            toInteger(at + index),
          ] as const,
        })),
      )
    }
    await stream.send([{ sql: "commit" }])
  } finally {
    await stream.close()
    await file.close()
  }
}

function toPage(buffer: Buffer, index: number): Buffer {
  return buffer.subarray(index * pageBytes, (index + 1) * pageBytes)
}

/** A libSQL server has a write-ahead log, and the first page says so. */
function prepareHeader(page: Buffer): void {
  if (page.readUInt16BE(header.pageBytesAt) !== pageBytes || page[header.reservedAt] !== 0)
    throw new RestoreRefused(
      `it contains a database with other pages than those of a libSQL server, of ${pageBytes} bytes`,
    )
  page.fill(2, header.versionsAt, header.versionsAt + 2)
}

async function reach<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof LibsqlUnavailable)) throw error
    throw new RestoreRefused(error.message, { cause: error })
  }
}
