import { FairSlots } from "@hamlet/kit"
import type { Candidates, Search } from "../database.ts"
import { type SearchLimits, searchTimedOut, tooManySearches } from "../search-limits.ts"
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
    let msLeft = this.#limits.searchMsMax
    const find = async <Hit>(candidates: Candidates) => {
      const startedMs = performance.now()
      try {
        return (await this.#reader.read(toStatement(candidates))) as readonly Hit[]
      } catch (error) {
        throw isTimedOut(error) ? searchTimedOut(this.#limits) : error
      } finally {
        msLeft -= performance.now() - startedMs
      }
    }
    return {
      find: async <Hit>(candidates: Candidates) => {
        if (msLeft <= 0) throw searchTimedOut(this.#limits)
        return await this.#slots.run(searcher, () => find<Hit>(candidates))
      },
    }
  }

  stop(): Promise<void> {
    return this.#reader.stop()
  }
}

function toStatement({ select, hitColumn, rankColumns, hitsMax }: Candidates): Statement {
  const order = rankColumns.map((column) => raw(`${column} desc`))
  return sql`
    select distinct * from (${select}) found where ${raw(hitColumn)} is not null
    order by ${join(order, ", ")} limit ${hitsMax}`
}
