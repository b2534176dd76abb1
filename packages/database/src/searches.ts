import { Refused } from "@hamlet/kit"
import type { Candidates, Search } from "./database.ts"

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

/** The hits, undefined when the time was up, and how long it took. */
export interface SearchResult {
  readonly hits: readonly unknown[] | undefined
  readonly ms: number
}

/** Begins a search, of which `find` does one read. All of its reads have a time together. */
export function beginSearch(
  { searchMsMax }: SearchLimits,
  find: (candidates: Candidates, msMax: number) => Promise<SearchResult>,
): Search {
  let msLeft = searchMsMax
  return {
    async find<Hit>(candidates: Candidates) {
      const { hits, ms } = msLeft > 0 ? await find(candidates, msLeft) : { hits: undefined, ms: 0 }
      msLeft -= ms
      if (hits === undefined) throw searchTimedOut(searchMsMax)
      return hits as readonly Hit[]
    },
  }
}

function searchTimedOut(searchMsMax: number): Refused {
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
