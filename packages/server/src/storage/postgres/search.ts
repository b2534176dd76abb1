import { FairQueue } from "../../shared/fair-queue.ts"
import type { Candidates, Hit, Search } from "../database/database.ts"
import { type Statement, sql } from "../database/sql.ts"
import { type SearchLimits, searchTimedOut, tooManySearches } from "../search/search-limits.ts"
import { isTimedOut } from "./errors.ts"
import type { PostgresReader } from "./reader.ts"

/**
 * Searches over connections of their own, whose statements have a short time limit: other reads
 * never wait for them.
 */
export class PostgresSearches {
  readonly #reader: PostgresReader
  readonly #atOnceMax: number
  readonly #limits: SearchLimits
  readonly #waiting: FairQueue<() => void>
  #active = 0

  constructor(reader: PostgresReader, atOnceMax: number, limits: SearchLimits) {
    this.#limits = limits
    this.#waiting = new FairQueue(limits.searchesWaitingMax)
    this.#reader = reader
    this.#atOnceMax = atOnceMax
  }

  open(searcher: string): Search {
    let msLeft = this.#limits.searchMsMax
    return {
      find: async (candidates) => {
        if (msLeft <= 0) throw searchTimedOut(this.#limits)
        await this.#enter(searcher)
        const startedMs = performance.now()
        try {
          return (await this.#reader.read(toStatement(candidates))) as readonly Hit[]
        } catch (error) {
          throw isTimedOut(error) ? searchTimedOut(this.#limits) : error
        } finally {
          msLeft -= performance.now() - startedMs
          this.#leave()
        }
      },
    }
  }

  stop(): Promise<void> {
    return this.#reader.stop()
  }

  async #enter(searcher: string): Promise<void> {
    if (this.#active < this.#atOnceMax) {
      this.#active += 1
      return
    }
    const turn = Promise.withResolvers<void>()
    if (!this.#waiting.push(searcher, turn.resolve)) throw tooManySearches()
    await turn.promise
  }

  /** Starts the next search that waits. */
  #leave(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#active -= 1
  }
}

function toStatement({ select, hitsMax }: Candidates): Statement {
  return sql`
    select id, like_count, created_at, is_name from (${select}) found where is_name is not null
    order by like_count desc, created_at desc, id desc limit ${hitsMax}`
}
