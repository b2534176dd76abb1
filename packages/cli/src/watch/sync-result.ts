import { ApiError } from "@hamlet/contract/client"
import { CliError } from "../cli-error.ts"
import type { ExitName } from "../exit-codes.ts"
import { toFailure } from "../failure.ts"

/** The result of a synchronisation. */
export interface SyncResult {
  /** Whether anything was done, so there may be more. */
  readonly hasActed: boolean
  /** Whether something changed meanwhile, so there is more to do. */
  readonly isRaced: boolean
  readonly hasConflict: boolean
  /** Whether texts of both sides were merged, so that the result is to be saved. */
  readonly hasMerged: boolean
  /** The exit code of the first failure. */
  readonly exit: ExitName | undefined
}

/** The result when there is nothing to do. */
export const nothingDone: SyncResult = {
  hasActed: false,
  isRaced: false,
  hasConflict: false,
  hasMerged: false,
  exit: undefined,
}

/** Both results together. */
export function addResults(one: SyncResult, other: SyncResult): SyncResult {
  return {
    hasActed: one.hasActed || other.hasActed,
    isRaced: one.isRaced || other.isRaced,
    hasConflict: one.hasConflict || other.hasConflict,
    hasMerged: one.hasMerged || other.hasMerged,
    exit: one.exit ?? other.exit,
  }
}

/** Scripts must notice conflicts and problems. */
export function toSyncExit(
  { hasConflict, isRaced, exit }: SyncResult,
  hasProblem = false,
): ExitName | undefined {
  return hasConflict || isRaced ? "conflict" : (exit ?? (hasProblem ? "failed" : undefined))
}

/** A result that grows. */
export type Tally = { -readonly [Field in keyof SyncResult]: SyncResult[Field] }

/** Classifies the failure of one action; throws those that affect all of them. */
export function toSyncFailure(error: unknown) {
  const failure = toFailure(error)
  const isFatal = failure === undefined || ["unavailable", "refused"].includes(failure.exit)
  if (isFatal || !(error instanceof ApiError || error instanceof CliError)) throw error
  if (error instanceof ApiError && (error.status >= 500 || error.code === "unknown")) throw error
  const isName = error instanceof ApiError && error.code === "name_taken"
  const isRaced =
    isName || (error instanceof ApiError && (error.status === 404 || error.status === 412))
  return { ...failure, isName, isRaced }
}
