import { z } from "zod"
import { params } from "../inputs.ts"
import { logLine, runDetail } from "../records.ts"
import { route } from "../route.ts"

/** Single runs. */
export const runRoutes = {
  getRun: route({
    method: "get",
    path: "/v1/runs/{run_id}",
    tag: "Runs",
    summary: "A run with its arguments, return value and logs",
    auth: "required",
    scope: "run:read",
    params: params.run,
    answers: { 200: runDetail },
    errors: ["run_not_found"],
  }),
  getRunLogs: route({
    method: "get",
    path: "/v1/runs/{run_id}/logs",
    tag: "Runs",
    summary: "What a run has logged so far",
    auth: "required",
    scope: "run:read",
    params: params.run,
    answers: { 200: z.object({ data: z.array(logLine), logsTruncated: z.boolean() }) },
    errors: ["run_not_found"],
  }),
}
