import { route } from "../route.ts"
import { activity, activityQuery, stats, statsQuery } from "../schemas/stats.ts"

/** Statistics of runs. */
export const statRoutes = {
  getMyStats: route("Me", "get /v1/me/stats", {
    summary: "Runs, errors and durations on the caller's account over time",
    scope: "run:read",
    query: statsQuery,
    responses: { 200: stats },
  }),
  listMyActivity: route("Me", "get /v1/me/activity", {
    summary: "Recent runs of each of the caller's vals on the caller's account",
    scope: "run:read",
    query: activityQuery,
    responses: { 200: activity },
  }),
  getValStats: route("Vals", "get /v1/vals/{val_id}/stats", {
    summary:
      "Runs, errors and durations of a val over time; all runs for its owner, otherwise only the caller's",
    scope: "run:read",
    valAccess: "see",
    query: statsQuery,
    responses: { 200: stats },
  }),
}
