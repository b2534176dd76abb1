import { afterAll, afterEach, beforeEach, describe } from "bun:test"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { notRun } from "@hamlet/kit/testing"
import type { Database } from "../../src/storage/database/database.ts"
import { migrate } from "../../src/storage/database/migrate.ts"
import type { SearchLimits } from "../../src/storage/database/search-limits.ts"
import { migrations } from "../../src/storage/migrations/index.ts"
import { openPostgres } from "../../src/storage/postgres/open.ts"
import { openSqlite } from "../../src/storage/sqlite/open.ts"
import { PostgresTemplate } from "./postgres/postgres-template.ts"

export interface TestDatabase {
  readonly db: Database
  /** Absent where the database is a file. */
  readonly url: string | undefined
  /** Absent where the database is on a server. */
  readonly path?: string
  /** Stops the database and removes it. */
  close(): Promise<void>
}

interface DatabaseKind {
  readonly name: "SQLite" | "PostgreSQL"
  /** A fresh database with the current schema, or with none. */
  open(options?: { readonly isEmpty?: boolean }): Promise<TestDatabase>
}

/** In memory, if there is room: on a disk each commit waits for it. */
const fileDir = process.env.HAMLET_TEST_DATABASE_DIR ?? tmpdir()
const serverUrl = process.env.HAMLET_TEST_POSTGRES_URL
/** Whether the server is deleted after the tests, with all of its databases. */
const isTemporaryServer = process.env.HAMLET_TEST_POSTGRES_TEMPORARY !== undefined
const template =
  serverUrl === undefined
    ? undefined
    : new PostgresTemplate(serverUrl, { isKept: isTemporaryServer })

const sqlite: DatabaseKind = {
  name: "SQLite",
  async open({ isEmpty = false } = {}) {
    const folder = await mkdtemp(join(fileDir, "hamlet-test-"))
    const path = join(folder, "hamlet.db")
    if (!isEmpty) await writeFile(path, await migratedFile())
    const db = openSqlite(path)
    return {
      db,
      url: undefined,
      path,
      close: () => db.stop().finally(() => rm(folder, { recursive: true })),
    }
  },
}

let migrating: Promise<Uint8Array> | undefined

/** The bytes of a database with the current schema: copying them is ten times as fast as migrating. */
export function migratedFile(): Promise<Uint8Array> {
  migrating ??= createMigratedFile()
  return migrating
}

async function createMigratedFile(): Promise<Uint8Array> {
  const folder = await mkdtemp(join(fileDir, "hamlet-test-"))
  try {
    const path = join(folder, "hamlet.db")
    const db = openSqlite(path)
    await migrate(db, migrations)
    // The last connection that closes writes everything from the log into the file.
    await db.stop()
    return await readFile(path)
  } finally {
    await rm(folder, { recursive: true })
  }
}

function postgres(from: PostgresTemplate): DatabaseKind {
  return {
    name: "PostgreSQL",
    async open({ isEmpty = false } = {}) {
      const { url, drop } = await from.createDatabase({ isEmpty })
      // Bun opens all connections of a pool at once, and every test opens a pool.
      const db = await openPostgres(url, { connectionsMax: 5 })
      return { db, url, close: () => db.stop().finally(drop) }
    },
  }
}

/** Another connection to the same database, as a second process would have it. */
export function openAgain(
  { url, path }: Pick<TestDatabase, "url" | "path">,
  limits: Partial<SearchLimits> = {},
): Promise<Database> {
  if (url !== undefined) return openPostgres(url, { connectionsMax: 5, ...limits })
  if (path !== undefined) return Promise.resolve(openSqlite(path, limits))
  throw new Error("Cannot open the database: it has neither an address nor a path")
}

/**
 * The databases that every storage and API suite runs on. PostgreSQL is among them when there is a
 * server to use.
 */
export const databases: readonly DatabaseKind[] =
  template === undefined ? [sqlite] : [sqlite, postgres(template)]

export type OpenDatabase = DatabaseKind["open"]

/** Defines the suite once for each database, and closes the databases that it leaves open. */
export function describeEachDatabase(title: string, define: (open: OpenDatabase) => void): void {
  describeSqlite(title, define)
  describePostgres(title, define)
}

/** A suite about something that cannot differ between the databases. */
export function describeSqlite(title: string, define: (open: OpenDatabase) => void): void {
  describeDatabase(sqlite, title, define)
}

/** A suite about nodes that share a database, or about PostgreSQL itself. */
export function describePostgres(title: string, define: (open: OpenDatabase) => void): void {
  if (template === undefined) notRun(`${title} (PostgreSQL)`, "HAMLET_TEST_POSTGRES_URL is not set")
  else describeDatabase(postgres(template), title, define)
}

function describeDatabase(
  { name, open }: DatabaseKind,
  title: string,
  define: (open: OpenDatabase) => void,
): void {
  describe(`${title} (${name})`, () => {
    const ofTest: TestDatabase[] = []
    const ofSuite: TestDatabase[] = []
    let isInTest = false
    template?.acquire()
    beforeEach(() => {
      isInTest = true
    })
    define(async (options) => {
      const database = closedOnce(await open(options))
      const opened = isInTest ? ofTest : ofSuite
      opened.push(database)
      return database
    })
    // Hooks run in the order of their definition: a suite closes what uses the database first.
    afterEach(async () => {
      isInTest = false
      await closeAll(ofTest)
    })
    afterAll(async () => {
      await closeAll(ofSuite)
      await template?.release()
    })
  })
}

async function closeAll(opened: TestDatabase[]): Promise<void> {
  await Promise.all(opened.splice(0).map((database) => database.close()))
}

function closedOnce(database: TestDatabase): TestDatabase {
  let closed: Promise<void> | undefined
  return {
    ...database,
    close() {
      closed ??= database.close()
      return closed
    },
  }
}
