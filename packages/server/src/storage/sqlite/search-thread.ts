import { workerData } from "node:worker_threads"
import { serveJobs } from "@hamlet/kit"
import type { Hit } from "../database/database.ts"
import { byRank } from "../search/search-limits.ts"
import { connect } from "./connection.ts"
import type { SearchJob, SearchResult, SearchThreadOptions } from "./search.ts"

// A search thread. It checks the time after each text that it compares, which takes 20 ms at worst.
const options = workerData as SearchThreadOptions
const connection = connect(options.path, options, true)

serveJobs<SearchJob, SearchResult>(({ select, hitsMax, msMax }) => {
  const startedMs = performance.now()
  const hits: Hit[] = []
  for (const row of connection.iterate(select) as Iterable<
    Hit & { readonly isName: boolean | null }
  >) {
    if (row.isName !== null) hits.push(row)
    const ms = performance.now() - startedMs
    if (ms > msMax) return { result: { hits: undefined, ms } }
  }
  // Several texts of a val may be hits.
  const best = [...new Map(hits.map((hit) => [hit.id, hit])).values()]
    .sort(byRank)
    .slice(0, hitsMax)
  return { result: { hits: best, ms: performance.now() - startedMs } }
})
