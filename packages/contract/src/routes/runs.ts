import { type RouteDefinition, route } from "../route.ts"
import {
  callValBody,
  callValQuery,
  createRunBody,
  evalCodeBody,
  params,
} from "../schemas/inputs.ts"
import { returnValue, runCancellation, runDetail, runLogs } from "../schemas/records.ts"

/** What running a val may come to, beside the run itself. */
const refusals = [
  "too_many_runs",
  "overloaded",
  "sandbox_unavailable",
  "packages_pending",
  "call_too_deep",
] as const

/**
 * Calling is running somebody's code on one's own account, whatever the method. Without a token it
 * is on the account of the val's owner, which the operator has to allow.
 */
const call = {
  path: "/v1/run/{username}.{val_name}",
  tag: "Runs",
  auth: "required",
  mayBeAnonymous: true,
  scope: "run:write",
  valAccess: "see",
  params: params.valByName,
  responses: { 200: returnValue },
  errors: [...refusals, "run_failed", "run_timed_out"],
} as const satisfies Partial<RouteDefinition>

/** Running vals, and single runs. */
export const runRoutes = {
  createRun: route({
    method: "post",
    path: "/v1/vals/{val_id}/runs",
    tag: "Runs",
    summary: "Run a val with arguments, on the account of whoever asks; the run says how it ended",
    auth: "required",
    scope: "run:write",
    valAccess: "see",
    params: params.val,
    body: createRunBody,
    hasAsync: true,
    responses: { 200: runDetail, 202: runDetail },
    errors: ["version_not_found", ...refusals],
  }),
  callVal: route({
    ...call,
    method: "post",
    summary: "Call a val: the answer is what it returns",
    body: callValBody,
  }),
  callValByQuery: route({
    ...call,
    method: "get",
    summary: "Call a val with arguments from the query: the answer is what it returns",
    query: callValQuery,
  }),
  evalCode: route({
    method: "post",
    path: "/v1/eval",
    tag: "Runs",
    summary: "Run code once, without saving it as a val: the answer is what it returns",
    auth: "required",
    scope: "run:write",
    body: evalCodeBody,
    isCodeBody: true,
    responses: { 200: returnValue },
    errors: [...refusals, "run_failed", "run_timed_out"],
  }),
  getRun: route({
    method: "get",
    path: "/v1/runs/{run_id}",
    tag: "Runs",
    summary: "A run with its arguments, return value and logs",
    auth: "required",
    scope: "run:read",
    params: params.run,
    responses: { 200: runDetail },
    errors: ["run_not_found"],
  }),
  getRunLogs: route({
    method: "get",
    path: "/v1/runs/{run_id}/logs",
    tag: "Runs",
    summary: "What a run has logged so far; as a stream of events, what it logs until it ends",
    auth: "required",
    scope: "run:read",
    params: params.run,
    hasEvents: true,
    responses: { 200: runLogs },
    errors: ["run_not_found"],
  }),
  cancelRun: route({
    method: "post",
    path: "/v1/runs/{run_id}/cancel",
    tag: "Runs",
    summary: "End a run, for whoever started it and for the val's owner",
    auth: "required",
    scope: "run:write",
    params: params.run,
    responses: { 200: runCancellation },
    errors: ["run_not_found"],
  }),
  cancelEvaluation: route({
    method: "post",
    path: "/v1/vals/{val_id}/evaluations/{run_id}/cancel",
    tag: "Runs",
    summary: "End a run of a val: the same by another address",
    auth: "required",
    scope: "run:write",
    valAccess: "see",
    params: params.evaluation,
    responses: { 200: runCancellation },
    errors: ["run_not_found"],
  }),
  replayRun: route({
    method: "post",
    path: "/v1/runs/{run_id}/replay",
    tag: "Runs",
    summary: "Run the same version with the same input again, on the account of whoever asks",
    auth: "required",
    scope: "run:write",
    params: params.run,
    hasAsync: true,
    responses: { 200: runDetail, 202: runDetail },
    errors: ["run_not_found", "not_replayable", ...refusals],
  }),
}
