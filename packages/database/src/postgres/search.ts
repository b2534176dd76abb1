import { FairSlots } from "@hamlet/kit"
import type { Candidates, Search } from "../database.ts"
import { beginSearch, type SearchLimits, type SearchResult, tooManySearches } from "../searches.ts"
import { join, raw, type Statement, sql } from "../sql.ts"
import { isTimedOut } from "./errors.ts"
import type { PostgresReader } from "./reader.ts"

/**
 * Searches over connections of their own, whose statements have a short time limit: other reads
 * never wait for them.
 */
export class PostgresSearches {
  readonly #reader: PostgresReader
  readonly #limits: SearchLimits
  readonly #slots: FairSlots

  constructor(reader: PostgresReader, atOnceMax: number, limits: SearchLimits) {
    const { searchesWaitingMax: waitingMax } = limits
    this.#limits = limits
    this.#slots = new FairSlots(atOnceMax, { waitingMax }, tooManySearches)
    this.#reader = reader
  }

  open(searcher: string): Search {
    return beginSearch(this.#limits, (candidates) =>
      this.#slots.run(searcher, () => this.#find(candidates)),
    )
  }

  stop(): Promise<void> {
    return this.#reader.stop()
  }

  async #find(candidates: Candidates): Promise<SearchResult> {
    const startedMs = performance.now()
    try {
      const hits = await this.#reader.read(toStatement(candidates))
      return { hits, ms: performance.now() - startedMs }
    } catch (error) {
      if (!isTimedOut(error)) throw error
      return { hits: undefined, ms: performance.now() - startedMs }
    }
  }
}

function toStatement({ select, hitColumn, rankColumns, hitsMax }: Candidates): Statement {
  const order = rankColumns.map((column) => raw(`${column} desc`))
  return sql`
    select distinct * from (${select}) found where ${raw(hitColumn)} is not null
    order by ${join(order, ", ")} limit ${hitsMax}`
}
