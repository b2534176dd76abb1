import { Refused } from "@hamlet/kit"
import type { SqlValue } from "./sql.ts"

export type ConstraintKind = "unique" | "foreign_key" | "not_null" | "check"

/**
 * A statement broke a constraint of the schema. Stores turn the ones they expect into a refusal;
 * any other is a bug.
 */
export class ConstraintError extends Error {
  override readonly name = "ConstraintError"

  constructor(
    readonly kind: ConstraintKind,
    cause: Error,
  ) {
    super(`Cannot write to the database: ${cause.message}`, { cause })
  }
}

/** Another transaction did not release a lock in time. */
export class LockTimeout extends Refused {}

export function unavailable(problem: string, cause?: unknown): Refused {
  return new Refused("database_unavailable", `Cannot use the database: ${problem}`, { cause })
}

/** Whether a database, or its server, is away. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof Refused && error.code === "database_unavailable"
}

/** The writes of one owner wait for each other, and those of others do not. */
export function tooManyWaiting(): Refused {
  return new Refused("rate_limited", "Cannot write: too many writes of this account are waiting")
}

/**
 * PostgreSQL cannot store U+0000, and functions of SQLite truncate texts at it, so neither ever
 * receives one.
 */
export function assertStorable(values: readonly SqlValue[]): void {
  for (const value of values) {
    if (typeof value === "string" && value.includes("\0")) {
      throw new Refused("invalid_request", "Cannot store a text that contains the character U+0000")
    }
  }
}
