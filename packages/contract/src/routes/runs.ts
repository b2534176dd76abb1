import { type RouteDefinition, route } from "../route.ts"
import { testEmailBody } from "../schemas/email.ts"
import {
  callArgsQuery,
  callValBody,
  createRunBody,
  evalCodeBody,
  placeQuery,
} from "../schemas/inputs.ts"
import { returnValue } from "../schemas/records.ts"
import { replayRunBody } from "../schemas/runs/request-inputs.ts"
import { runCancellation, runDetail, runLogs } from "../schemas/runs/run-records.ts"

/** Errors of running a val. */
const refusals = [
  "too_many_runs",
  "overloaded",
  "sandbox_unavailable",
  "secret_key_missing",
  "packages_pending",
  "call_too_deep",
] as const

/**
 * A call runs a val on the caller's account, whatever the method. Without a token it runs on the
 * account of the val's owner, which the operator has to allow.
 */
const call = {
  mayBeAnonymous: true,
  scope: "run:write",
  valAccess: "see",
  responses: { 200: returnValue },
  errors: [...refusals, "run_failed", "run_timed_out"],
} as const satisfies Partial<RouteDefinition>

/** Running vals, and single runs. */
export const runRoutes = {
  createRun: route("Runs", "post /v1/vals/{val_id}/runs", {
    summary: "Run a val with arguments on the caller's account; returns the run",
    scope: "run:write",
    valAccess: "see",
    body: createRunBody,
    hasAsync: true,
    responses: { 200: runDetail, 202: runDetail },
    errors: [
      "version_not_found",
      "branch_not_found",
      "file_not_found",
      "not_code",
      "queue_full",
      ...refusals,
    ],
  }),
  sendTestEmail: route("Runs", "post /v1/vals/{val_id}/emails", {
    summary:
      "Send a mail to a val of type email, or to a file of it, to try it; returns its run, which has not ended",
    scope: "run:write",
    valAccess: "own",
    query: placeQuery,
    body: testEmailBody,
    responses: { 202: runDetail },
    errors: [
      "branch_not_found",
      "file_not_found",
      "not_code",
      "not_email",
      "mail_refused",
      "too_many_runs",
      "secret_key_missing",
    ],
  }),
  callVal: route("Runs", "post /v1/run/{username}.{val_name}", {
    ...call,
    summary: "Call a val; returns its return value",
    body: callValBody,
  }),
  callValByQuery: route("Runs", "get /v1/run/{username}.{val_name}", {
    ...call,
    summary: "Call a val with arguments from the query; returns its return value",
    query: callArgsQuery,
  }),
  evalCode: route("Runs", "post /v1/eval", {
    summary:
      "Run code once without saving it; returns its return value, or its run with `prefer: return=representation`",
    scope: "run:write",
    body: evalCodeBody,
    isCodeBody: true,
    responses: { 200: returnValue },
    errors: [...refusals, "run_failed", "run_timed_out"],
  }),
  evalCodeByQuery: route("Runs", "get /v1/eval/{code}", {
    summary: "Run code once with arguments from the query; returns its return value",
    scope: "run:write",
    isRestPath: true,
    query: callArgsQuery,
    responses: { 200: returnValue },
    errors: [...refusals, "run_failed", "run_timed_out"],
  }),
  getRun: route("Runs", "get /v1/runs/{run_id}", {
    summary: "A run with its arguments, return value and logs",
    scope: "run:read",
    responses: { 200: runDetail },
    errors: ["secret_key_missing"],
  }),
  getRunLogs: route("Runs", "get /v1/runs/{run_id}/logs", {
    summary: "The logs of a run so far; as a stream of events, all logs until it ends",
    scope: "run:read",
    hasEvents: true,
    responses: { 200: runLogs },
  }),
  cancelRun: route("Runs", "post /v1/runs/{run_id}/cancel", {
    summary: "Cancel a run; for the user who started it, and for the val's owner",
    scope: "run:write",
    responses: { 200: runCancellation },
  }),
  cancelEvaluation: route("Runs", "post /v1/vals/{val_id}/evaluations/{run_id}/cancel", {
    summary: "Cancel a run of a val; an alias",
    scope: "run:write",
    valAccess: "see",
    responses: { 200: runCancellation },
  }),
  cancelEvaluationById: route("Runs", "post /v1/vals/{run_id}/cancel", {
    summary: "Cancel a run; an alias",
    scope: "run:write",
    responses: { 200: runCancellation },
  }),
  replayRun: route("Runs", "post /v1/runs/{run_id}/replay", {
    summary: "Run the same version again, with the same input or with changes",
    scope: "run:write",
    body: replayRunBody,
    hasAsync: true,
    responses: { 200: runDetail, 202: runDetail },
    errors: ["version_not_found", "not_replayable", "queue_full", ...refusals],
  }),
}
