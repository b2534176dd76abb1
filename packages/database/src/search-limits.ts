import { Refused } from "@hamlet/kit"

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
export function searchTimedOut({ searchMsMax }: SearchLimits): Refused {
  const time = `${searchMsMax / 1000} seconds`
  return new Refused(
    "search_timed_out",
    `Cannot finish the search: it took longer than ${time}. Try a different text`,
  )
}

/** The error for a search when too many others are waiting. */
export function tooManySearches(): Refused {
  return new Refused("overloaded", "Cannot search: too many searches are waiting")
}
