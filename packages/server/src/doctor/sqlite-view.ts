import { constants, Database } from "bun:sqlite"
import {
  accessSync,
  closeSync,
  existsSync,
  constants as modes,
  openSync,
  readSync,
  statSync,
} from "node:fs"
import { dirname } from "node:path"
import { pathToFileURL } from "node:url"
import { type Sql, type SqlValue, sql } from "@hamlet/database"
import { readRecords, sqliteDialect } from "@hamlet/database/sqlite"
import { findLostDatabase, lostDatabaseAdvice } from "../storage/lost-database.ts"
import type { DatabaseView, Sighting } from "./database-view.ts"
import { about, type Findings, toReason, toSize } from "./finding.ts"
import { doctorLimits as limits } from "./limits.ts"

const check = about("database")
const restore =
  'stop the server, keep a copy of the file, and "hamlet restore" a backup into an empty folder'

/** Inspects a database file without changing it, whether or not a server has it open. */
export function lookAtSqlite(path: string): Sighting {
  const stats = statSync(path, { throwIfNoEntry: false })
  const lost = findLostDatabase(dirname(path))
  if (lost !== undefined)
    return { findings: check.failure(lost, lostDatabaseAdvice), view: undefined }
  if (!stats)
    return {
      findings: check.fine(`there is no "${path}" yet; the first start makes it`),
      view: undefined,
    }
  try {
    accessSync(path, modes.R_OK | modes.W_OK)
  } catch {
    const found = `"${path}" cannot be written to: it belongs to ${stats.uid}, you are ${process.getuid?.()}`
    return { findings: check.failure(found, "run the server as its owner"), view: undefined }
  }
  let connection: Database | undefined
  try {
    const wasIdle = isIdle(path)
    connection = open(path, wasIdle)
    const problems = findProblems(connection, stats.size)
    if (wasIdle && !isIdle(path)) {
      // A server started during the check: the result may mix two states.
      connection.close()
      connection = open(path, false)
      problems.splice(0, problems.length, ...findProblems(connection, stats.size))
    }
    return { findings: judge(path, stats.size, problems), view: toView(connection) }
  } catch (error) {
    connection?.close()
    return {
      findings: check.failure(`"${path}" cannot be read: ${toReason(error)}`, restore),
      view: undefined,
    }
  }
}

function isIdle(path: string): boolean {
  return !existsSync(`${path}-wal`)
}

/**
 * Opening an unused database normally creates two files beside it, which a reader may not be able
 * to remove.
 */
function open(path: string, isImmutable: boolean): Database {
  if (!isImmutable) return new Database(path, { readonly: true })
  return new Database(
    `${pathToFileURL(path).href}?immutable=1`,
    constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI,
  )
}

function findProblems(connection: Database, bytes: number): string[] {
  connection.run("pragma busy_timeout = 5000")
  if (bytes > limits.readThroughBytesMax) return []
  const rows = connection
    .query<{ quick_check: string }, []>(`pragma quick_check(${limits.problemsMax})`)
    .all()
  return rows.map((row) => row.quick_check).filter((text) => text !== "ok")
}

function judge(path: string, bytes: number, problems: readonly string[]): Findings {
  const walBytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
  const found = `SQLite in "${path}", ${toSize(bytes)}${walBytes > 0 ? ` and ${toSize(walBytes)} of log` : ""}`
  if (problems.length > 0)
    return check.failure(
      `${found}, is damaged: ${problems.join("; ").replaceAll("\n", " ")}`,
      restore,
    )
  if (!isWal(path))
    return check.warning(
      `${found}, without a write-ahead log`,
      "start the server once: it switches it on",
    )
  if (walBytes > limits.walBytesMax)
    return check.warning(
      found,
      "something reads for very long: end it, or restart the server, so that the log is copied back",
    )
  if (bytes > limits.readThroughBytesMax)
    return check.fine(
      `${found}; too large to be read through here, which "pragma quick_check" of the program sqlite3 does`,
    )
  return check.fine(`${found}; read through, nothing damaged`)
}

/**
 * Reads bytes 18 and 19 of the file, because a connection opened as immutable does not report the
 * journal mode.
 */
function isWal(path: string): boolean {
  const file = openSync(path, "r")
  try {
    const header = Buffer.alloc(20)
    return (
      readSync(file, header, 0, header.length, 0) === header.length &&
      header[18] === 2 &&
      header[19] === 2
    )
  } finally {
    closeSync(file)
  }
}

function toView(connection: Database): DatabaseView {
  return {
    dialect: sqliteDialect,
    async read(...given: Sql) {
      const { text, values } = sql(...given)
      return readRecords(connection.query<unknown, SqlValue[]>(text), values)
    },
    hasOwnClock: false,
    stop: async () => connection.close(),
  }
}
