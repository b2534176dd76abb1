import { type RouteDefinition, route } from "../route.ts"
import { testEmailBody } from "../schemas/email.ts"
import {
  callValBody,
  callValQuery,
  createRunBody,
  evalCodeBody,
  params,
} from "../schemas/inputs.ts"
import { returnValue } from "../schemas/records.ts"
import { replayRunBody } from "../schemas/runs/replay-input.ts"
import { runCancellation, runDetail, runLogs } from "../schemas/runs/run-records.ts"

/** Errors of running a val. */
const refusals = [
  "too_many_runs",
  "overloaded",
  "sandbox_unavailable",
  "packages_pending",
  "call_too_deep",
] as const

/**
 * A call runs a val on the caller's account, whatever the method. Without a token it runs on the
 * account of the val's owner, which the operator has to allow.
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
    summary: "Run a val with arguments on the caller's account; returns the run",
    auth: "required",
    scope: "run:write",
    valAccess: "see",
    params: params.val,
    body: createRunBody,
    hasAsync: true,
    responses: { 200: runDetail, 202: runDetail },
    errors: ["version_not_found", "queue_full", ...refusals],
  }),
  sendTestEmail: route({
    method: "post",
    path: "/v1/vals/{val_id}/emails",
    tag: "Runs",
    summary: "Send a mail to a val of type email, to try it; returns its run, which has not ended",
    auth: "required",
    scope: "run:write",
    valAccess: "own",
    params: params.val,
    body: testEmailBody,
    responses: { 202: runDetail },
    errors: ["not_email", "mail_refused", "too_many_runs"],
  }),
  callVal: route({
    ...call,
    method: "post",
    summary: "Call a val; returns its return value",
    body: callValBody,
  }),
  callValByQuery: route({
    ...call,
    method: "get",
    summary: "Call a val with arguments from the query; returns its return value",
    query: callValQuery,
  }),
  evalCode: route({
    method: "post",
    path: "/v1/eval",
    tag: "Runs",
    summary: "Run code once without saving it; returns its return value",
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
    summary: "The logs of a run so far; as a stream of events, all logs until it ends",
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
    summary: "Cancel a run; for the user who started it, and for the val's owner",
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
    summary: "Cancel a run of a val; an alias",
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
    summary: "Run the same version again, with the same input or with changes",
    auth: "required",
    scope: "run:write",
    params: params.run,
    body: replayRunBody,
    hasAsync: true,
    responses: { 200: runDetail, 202: runDetail },
    errors: ["run_not_found", "version_not_found", "not_replayable", "queue_full", ...refusals],
  }),
}
