import type { runsQuery } from "@hamlet/contract"
import type { z } from "zod"
import { getRun, type RunFilter } from "../../domain/runs.ts"
import { json } from "../answer.ts"
import type { Handlers } from "../call.ts"
import type { HttpDeps } from "../deps.ts"
import { toRunDetailView } from "../views.ts"

/** Single runs. */
export function runHandlers(deps: HttpDeps) {
  return {
    getRun: async ({ caller, params }) => json(200, toRunDetailView(await getRun(deps, caller, params.run_id))),
    getRunLogs: async ({ caller, params }) => {
      const { logs, logsTruncated } = await getRun(deps, caller, params.run_id)
      return json(200, { data: logs, logsTruncated })
    },
  } satisfies Partial<Handlers>
}

/** The filter that a query asks for. */
export function toRunFilter(query: z.output<typeof runsQuery>): RunFilter {
  return { error: query.error, sources: query.source, since: query.since, until: query.until }
}
