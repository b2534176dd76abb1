import { route } from "../route.ts"
import { params } from "../schemas/inputs.ts"
import { activity, activityQuery, stats, statsQuery } from "../schemas/stats.ts"

/** Statistics of runs. */
export const statRoutes = {
  getMyStats: route({
    method: "get",
    path: "/v1/me/stats",
    tag: "Me",
    summary: "Runs, errors and durations on the caller's account over time",
    auth: "required",
    scope: "run:read",
    query: statsQuery,
    responses: { 200: stats },
  }),
  listMyActivity: route({
    method: "get",
    path: "/v1/me/activity",
    tag: "Me",
    summary: "Recent runs of each of the caller's vals on the caller's account",
    auth: "required",
    scope: "run:read",
    query: activityQuery,
    responses: { 200: activity },
  }),
  getValStats: route({
    method: "get",
    path: "/v1/vals/{val_id}/stats",
    tag: "Vals",
    summary:
      "Runs, errors and durations of a val over time; all runs for its owner, otherwise only the caller's",
    auth: "required",
    scope: "run:read",
    valAccess: "see",
    params: params.val,
    query: statsQuery,
    responses: { 200: stats },
  }),
}
