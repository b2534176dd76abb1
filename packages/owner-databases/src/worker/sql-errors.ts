import { statfsSync } from "node:fs"
import type { SqlOutcome } from "../owner-databases.ts"

/** A statement cannot run for a reason of ours, not of SQLite. */
export class StatementError extends Error {}

/** A statement writes where that is not allowed. */
export class WriteRefused extends Error {}

/** A request with this idempotency key was done before, and its result was not kept. */
export class DoneBefore extends Error {}

/** The vals of the user have as many databases as they may. */
export class TooManyDatabases extends Error {
  constructor(databasesMax: number) {
    super(`your vals have ${databasesMax} databases already`)
  }
}

/** Where the statement ran, and which one of a batch it was. */
interface ErrorContext {
  readonly folder: string
  readonly bytesMax: number
  /** The index of the statement that failed; undefined when there is only one. */
  readonly index: number | undefined
}

/** Most errors are the caller's fault. Those of the disk are `unavailable`. */
export function toOutcome(error: unknown, { folder, bytesMax, index }: ErrorContext): SqlOutcome {
  if (error instanceof WriteRefused) return { kind: "write_refused" }
  if (error instanceof DoneBefore) return { kind: "done_before" }
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof StatementError) return { kind: "failed", message, index }
  if (error instanceof TooManyDatabases) return { kind: "full", message }
  const code = readCode(error)
  const name = codeNames[code & primaryMask]
  const failed = { kind: "failed", message, index, sqliteCode: name && `SQLITE_${name}` } as const
  if (code === corruptTable) return failed
  if (name === "FULL")
    return isDiskFull(folder)
      ? { kind: "unavailable", message: "there is no space left on the server's disk" }
      : { kind: "full", message: toFullMessage(bytesMax) }
  return unavailableNames.has(name) ? { kind: "unavailable", message } : failed
}

/** Why a user cannot write more. */
export function toFullMessage(bytesMax: number): string {
  return `your databases would have more than ${bytesMax} bytes in total`
}

/** The errors of the disk, and of a lock. */
export const unavailableNames: ReadonlySet<string | undefined> = new Set([
  "BUSY",
  "LOCKED",
  "IOERR",
  "CORRUPT",
  "CANTOPEN",
  "NOTADB",
])

/** `SQLITE_CORRUPT_VTAB`: a full-text index does not match its table, which users can cause. */
const corruptTable = 267
/** The lowest eight bits of an error code are the primary code, the others add details. */
const primaryMask = 0xff

/** The names of the errors that a statement can cause, by their primary codes. */
const codeNames: Readonly<Record<number, string>> = {
  1: "ERROR",
  3: "PERM",
  4: "ABORT",
  5: "BUSY",
  6: "LOCKED",
  7: "NOMEM",
  8: "READONLY",
  9: "INTERRUPT",
  10: "IOERR",
  11: "CORRUPT",
  12: "NOTFOUND",
  13: "FULL",
  14: "CANTOPEN",
  17: "SCHEMA",
  18: "TOOBIG",
  19: "CONSTRAINT",
  20: "MISMATCH",
  21: "MISUSE",
  23: "AUTH",
  25: "RANGE",
  26: "NOTADB",
}

function readCode(error: unknown): number {
  return error instanceof Error && "errcode" in error && typeof error.errcode === "number"
    ? error.errcode
    : 0
}

/** With less free space than this, SQLite may fail to write the next pages. */
const spareBytesMin = 16 * 1024 * 1024

function isDiskFull(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize < spareBytesMin
  } catch {
    return false
  }
}
