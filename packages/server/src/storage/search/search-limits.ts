import { AppError } from "../../domain/app-error.ts"
import type { Hit } from "../database/database.ts"

/** How long searches may take, and how many there may be. */
export interface SearchLimits {
  /** What one search may take once it has begun, without the time that it waits for others. */
  readonly searchMsMax: number
  /**
   * Searches that wait for a thread or a connection; one searcher may hold a quarter of the places.
   */
  readonly searchesWaitingMax: number
}

export const searchDefaults: SearchLimits = { searchMsMax: 1_500, searchesWaitingMax: 64 }

/** The error for a search that takes too long. */
export function searchTimedOut({ searchMsMax }: SearchLimits): AppError {
  const time = `${searchMsMax / 1000} seconds`
  return new AppError(
    "search_timed_out",
    `Cannot finish the search: it took longer than ${time}. Another text may be found faster`,
  )
}

/** The error for a search that finds too many others waiting. */
export function tooManySearches(): AppError {
  return new AppError("overloaded", "Cannot search: too many searches are waiting")
}

/** Name hits first, then the most liked, then the newest. */
export function byRank(left: Hit, right: Hit): number {
  return (
    right.is_name - left.is_name ||
    right.like_count - left.like_count ||
    Number(right.created_at) - Number(left.created_at) ||
    (left.id < right.id ? 1 : -1)
  )
}
