import { afterAll, afterEach, beforeEach, describe } from "bun:test"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { notRun } from "@hamlet/kit/testing"
import type { Database } from "../database.ts"
import { openPostgres } from "../postgres/open.ts"
import type { SearchLimits } from "../searches.ts"
import { openSqlite } from "../sqlite/open.ts"
import { type CreateTables, PostgresTemplate } from "./postgres-template.ts"

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
  /** A fresh database with the schema of the suite, or with none. */
  open(options?: { readonly isEmpty?: boolean }): Promise<TestDatabase>
}

export type OpenDatabase = DatabaseKind["open"]

/** In memory, if there is room: on a disk each commit waits for it. */
const fileDir = process.env.HAMLET_TEST_DATABASE_DIR ?? tmpdir()
const serverUrl = process.env.HAMLET_TEST_POSTGRES_URL
/** Whether the server is deleted after the tests, with all of its databases. */
const isTemporaryServer = process.env.HAMLET_TEST_POSTGRES_TEMPORARY !== undefined

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
 * Databases for suites. PostgreSQL is among them when there is a server to use. All suites on one
 * server that create tables create the same ones: they share a template.
 */
export function createTestDatabases(createTables?: CreateTables) {
  const template =
    serverUrl === undefined
      ? undefined
      : new PostgresTemplate(serverUrl, createTables, { isKept: isTemporaryServer })
  const { sqlite, readCreated } = createFiles(createTables)
  const postgres = template && toPostgresKind(template)

  /** A suite about something that cannot differ between the databases. */
  function describeSqlite(title: string, define: (open: OpenDatabase) => void): void {
    describeDatabase(sqlite, template, title, define)
  }

  /** A suite about nodes that share a database, or about PostgreSQL itself. */
  function describePostgres(title: string, define: (open: OpenDatabase) => void): void {
    if (postgres) describeDatabase(postgres, template, title, define)
    else notRun(`${title} (PostgreSQL)`, "HAMLET_TEST_POSTGRES_URL is not set")
  }

  return {
    databases: [sqlite, ...(postgres ? [postgres] : [])],
    describeSqlite,
    describePostgres,
    /** Defines the suite once for each database, and closes the databases that it leaves open. */
    describeEachDatabase(title: string, define: (open: OpenDatabase) => void): void {
      describeSqlite(title, define)
      describePostgres(title, define)
    },
    /** The bytes of a database with the schema: copying them is ten times as fast as migrating. */
    migratedFile: readCreated,
  }
}

function createFiles(createTables: CreateTables | undefined) {
  let creating: Promise<Uint8Array> | undefined

  async function create(): Promise<Uint8Array> {
    const folder = await mkdtemp(join(fileDir, "hamlet-test-"))
    try {
      const path = join(folder, "hamlet.db")
      const db = openSqlite(path)
      await createTables?.(db)
      // The last connection that closes writes everything from the log into the file.
      await db.stop()
      return await readFile(path)
    } finally {
      await rm(folder, { recursive: true })
    }
  }

  const readCreated = () => {
    creating ??= create()
    return creating
  }

  const sqlite: DatabaseKind = {
    name: "SQLite",
    async open({ isEmpty = createTables === undefined } = {}) {
      const folder = await mkdtemp(join(fileDir, "hamlet-test-"))
      const path = join(folder, "hamlet.db")
      if (!isEmpty) await writeFile(path, await readCreated())
      const db = openSqlite(path)
      return {
        db,
        url: undefined,
        path,
        close: () => db.stop().finally(() => rm(folder, { recursive: true })),
      }
    },
  }
  return { sqlite, readCreated }
}

function toPostgresKind(template: PostgresTemplate): DatabaseKind {
  return {
    name: "PostgreSQL",
    async open({ isEmpty = false } = {}) {
      const { url, drop } = await template.createDatabase({ isEmpty })
      // Bun opens all connections of a pool at once, and every test opens a pool.
      const db = await openPostgres(url, { connectionsMax: 5 })
      return { db, url, close: () => db.stop().finally(drop) }
    },
  }
}

function describeDatabase(
  { name, open }: DatabaseKind,
  template: PostgresTemplate | undefined,
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
