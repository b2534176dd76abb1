import { WorkerPool, WorkerPoolError } from "@hamlet/kit"
import type { Candidates, Search } from "../database.ts"
import { unavailable } from "../errors.ts"
import { beginSearch, type SearchLimits, type SearchResult, tooManySearches } from "../searches.ts"
import type { ConnectLimits } from "./connection.ts"

/** The data that a thread starts with. */
export interface SearchThreadOptions extends ConnectLimits {
  readonly path: string
}

/** A query for a thread. */
export interface SearchJob extends Candidates {
  /** How long it may take. */
  readonly msMax: number
}

const threads = {
  workersMax: 2,
  /** Ends a thread that does not stop by itself when its time is up. */
  jobMsMax: 30_000,
  idleMsMax: 600_000,
}

/**
 * Searches on threads of their own, over connections of their own: users choose the texts and the
 * query, so they decide how long a comparison takes.
 */
export class SqliteSearches {
  readonly #limits: SearchLimits
  readonly #pool: WorkerPool<SearchJob, SearchResult>

  constructor(path: string, limits: ConnectLimits & SearchLimits) {
    this.#limits = limits
    const { preparedMax, openMsMax, searchesWaitingMax: waitingMax } = limits
    const workerData: SearchThreadOptions = { path, preparedMax, openMsMax }
    const script = new URL("./search-thread.ts", import.meta.url)
    this.#pool = new WorkerPool({ ...threads, script, workerData, waitingMax })
  }

  open(searcher: string): Search {
    return beginSearch(this.#limits, (candidates, msMax) =>
      this.#find(searcher, { ...candidates, msMax }),
    )
  }

  stop(): Promise<void> {
    return this.#pool.stop()
  }

  async #find(searcher: string, job: SearchJob): Promise<SearchResult> {
    try {
      return await this.#pool.run(searcher, job)
    } catch (error) {
      if (!(error instanceof WorkerPoolError)) throw error
      if (error.reason === "overloaded") throw tooManySearches()
      if (error.reason === "timed_out") return { hits: undefined, ms: threads.jobMsMax }
      throw unavailable(error.message, error)
    }
  }
}
