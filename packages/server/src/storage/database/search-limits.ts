import { AppError } from "../../domain/app-error.ts"

/** How long searches may take, and how many there may be. */
export const searchDefaults = {
  /** The time limit of one search, without the time it waits for others. */
  searchMsMax: 1_500,
  /**
   * Searches that wait for a thread or a connection. One searcher may have a quarter of them.
   */
  searchesWaitingMax: 64,
}

export type SearchLimits = Readonly<typeof searchDefaults>

/** The error for a search that exceeds its time limit. */
export function searchTimedOut({ searchMsMax }: SearchLimits): AppError {
  const time = `${searchMsMax / 1000} seconds`
  return new AppError(
    "search_timed_out",
    `Cannot finish the search: it took longer than ${time}. Try a different text`,
  )
}

/** The error for a search when too many others are waiting. */
export function tooManySearches(): AppError {
  return new AppError("overloaded", "Cannot search: too many searches are waiting")
}
