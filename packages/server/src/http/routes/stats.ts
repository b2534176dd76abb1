import { getAccountStats, getActivity, getValStats } from "../../domain/stats/stats.ts"
import type { Handlers } from "../call.ts"
import type { HttpDeps } from "../deps.ts"
import { json } from "../response/api-response.ts"
import { toActivityView, toStatsView } from "../views/stat-views.ts"

/** Runs, counted. */
export function statHandlers(deps: HttpDeps) {
  return {
    getMyStats: async ({ caller, query }) =>
      json(200, toStatsView(await getAccountStats(deps, caller, query))),
    getValStats: async ({ caller, params, query }) =>
      json(200, toStatsView(await getValStats(deps, caller, params.val_id, query))),
    listMyActivity: async ({ caller, query }) =>
      json(200, toActivityView(await getActivity(deps, caller, query))),
  } satisfies Partial<Handlers>
}
