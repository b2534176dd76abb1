import { statfsSync } from "node:fs"
import type { SqlOutcome } from "../../../domain/owner-databases.ts"

/** A statement cannot run for a reason of ours, not of SQLite. */
export class StatementError extends Error {}

/** A statement writes where that is not allowed. */
export class WriteRefused extends Error {}

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
  /** Of the statement that failed; undefined when there is only one. */
  readonly index: number | undefined
}

/** Most errors are the caller's fault. Those of the disk are `unavailable`. */
export function toOutcome(error: unknown, { folder, bytesMax, index }: ErrorContext): SqlOutcome {
  if (error instanceof WriteRefused) return { kind: "write_refused" }
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof StatementError) return { kind: "failed", message, index }
  if (error instanceof TooManyDatabases) return { kind: "full", message }
  const code = readCode(error)
  const sqliteCode = codeNames[code & primaryMask]
  if (code === codes.corruptTable) return { kind: "failed", message, index, sqliteCode }
  switch (code & primaryMask) {
    case codes.full:
      if (isDiskFull(folder))
        return { kind: "unavailable", message: "there is no space left on the server's disk" }
      return { kind: "full", message: toFullMessage(bytesMax) }
    case codes.busy:
    case codes.locked:
    case codes.inputOutput:
    case codes.corrupt:
    case codes.cannotOpen:
    case codes.notADatabase:
      return { kind: "unavailable", message }
    default:
      return { kind: "failed", message, index, sqliteCode }
  }
}

/** Why a user cannot write more. */
export function toFullMessage(bytesMax: number): string {
  return `your databases would have more than ${bytesMax} bytes in total`
}

/** Error codes of SQLite. The lowest eight bits are the primary code, the others add details. */
const codes = {
  busy: 5,
  locked: 6,
  inputOutput: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  notADatabase: 26,
  /** `SQLITE_CORRUPT_VTAB`: a full-text index does not match its table, which users can cause. */
  corruptTable: 267,
}
const primaryMask = 0xff

/** The names of the errors that a statement can cause. */
const codeNames: Readonly<Record<number, string>> = {
  1: "SQLITE_ERROR",
  3: "SQLITE_PERM",
  4: "SQLITE_ABORT",
  7: "SQLITE_NOMEM",
  8: "SQLITE_READONLY",
  9: "SQLITE_INTERRUPT",
  11: "SQLITE_CORRUPT",
  12: "SQLITE_NOTFOUND",
  17: "SQLITE_SCHEMA",
  18: "SQLITE_TOOBIG",
  19: "SQLITE_CONSTRAINT",
  20: "SQLITE_MISMATCH",
  21: "SQLITE_MISUSE",
  23: "SQLITE_AUTH",
  25: "SQLITE_RANGE",
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
