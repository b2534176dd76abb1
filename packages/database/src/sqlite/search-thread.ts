import { workerData } from "node:worker_threads"
import { serveJobs } from "@hamlet/kit"
import { toField } from "../records.ts"
import type { SearchResult } from "../searches.ts"
import { connect } from "./connection.ts"
import type { SearchJob, SearchThreadOptions } from "./search.ts"

// A search thread. It checks the time after each text that it compares, which takes 20 ms at worst.
const options = workerData as SearchThreadOptions
const connection = connect(options.path, options, true)

type Hit = Readonly<Record<string, string | number | null>>

serveJobs<SearchJob, SearchResult>(({ select, hitColumn, rankColumns, hitsMax, msMax }) => {
  const startedMs = performance.now()
  const hitField = toName(hitColumn)
  const rankFields = rankColumns.map(toName)
  const keyField = rankFields.at(-1) as string
  // A hit may be there several times.
  const hits = new Map<Hit[string] | undefined, Hit>()
  for (const row of connection.iterate(select) as Iterable<Hit>) {
    if (row[hitField] !== null) hits.set(row[keyField], row)
    const ms = performance.now() - startedMs
    if (ms > msMax) return { result: { hits: undefined, ms } }
  }
  const best = [...hits.values()].sort(byRank(rankFields)).slice(0, hitsMax)
  return { result: { hits: best, ms: performance.now() - startedMs } }
})

function toName(column: string): string {
  return toField(column).path.join()
}

/** The greatest first, by the first field in which two hits differ. */
function byRank(fields: readonly string[]) {
  return (left: Hit, right: Hit): number => {
    const field = fields.find((name) => left[name] !== right[name])
    if (field === undefined) return 0
    return (left[field] ?? 0) < (right[field] ?? 0) ? 1 : -1
  }
}
