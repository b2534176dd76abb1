import { WorkerPool, WorkerPoolError } from "../../shared/worker-pool.ts"
import type { Candidates, Hit, Search } from "../database/database.ts"
import { unavailable } from "../database/errors.ts"
import { type SearchLimits, searchTimedOut, tooManySearches } from "../search/search-limits.ts"
import type { ConnectLimits } from "./connection.ts"

/** What a thread is told when it starts. */
export interface SearchThreadOrders extends ConnectLimits {
  readonly path: string
}

/** What a thread is asked for. */
export interface SearchJob extends Candidates {
  /** How long it may take. */
  readonly msMax: number
}

/** The hits, or that the time was over, and how long it took. */
export interface SearchResult {
  readonly hits: readonly Hit[] | undefined
  readonly ms: number
}

const threads = {
  workersMax: 2,
  /** For a thread that does not keep the time itself, whatever the reason. */
  jobMsMax: 30_000,
  idleMsMax: 600_000,
}

/**
 * Searches on threads of their own, over connections of their own: to compare texts takes as long
 * as whoever searches wants it to take.
 */
export class SqliteSearches {
  readonly #limits: SearchLimits
  readonly #pool: WorkerPool<SearchJob, SearchResult>

  constructor(path: string, limits: ConnectLimits & SearchLimits) {
    this.#limits = limits
    const { preparedMax, openMsMax, searchesWaitingMax: waitingMax } = limits
    const workerData: SearchThreadOrders = { path, preparedMax, openMsMax }
    const script = new URL("./search-thread.ts", import.meta.url)
    this.#pool = new WorkerPool({ ...threads, script, workerData, waitingMax })
  }

  open(searcher: string): Search {
    let msLeft = this.#limits.searchMsMax
    return {
      find: async ({ select, hitsMax }) => {
        if (msLeft <= 0) throw searchTimedOut(this.#limits)
        const { hits, ms } = await this.#ask(searcher, { select, hitsMax, msMax: msLeft })
        msLeft -= ms
        if (hits === undefined) throw searchTimedOut(this.#limits)
        return hits
      },
    }
  }

  stop(): Promise<void> {
    return this.#pool.stop()
  }

  async #ask(searcher: string, job: SearchJob): Promise<SearchResult> {
    try {
      return await this.#pool.run(searcher, job)
    } catch (error) {
      if (!(error instanceof WorkerPoolError)) throw error
      if (error.reason === "overloaded") throw tooManySearches()
      throw error.reason === "timed_out"
        ? searchTimedOut(this.#limits)
        : unavailable(error.message, error)
    }
  }
}
