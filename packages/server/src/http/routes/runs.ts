import {
  type activity,
  type replayRunBody,
  type runsQuery,
  type stats,
  toHeaderPairs,
} from "@hamlet/contract"
import type { z } from "zod"
import type { Caller } from "../../domain/access.ts"
import { AppError } from "../../domain/app-error.ts"
import { depthHeader, readDepth } from "../../domain/egress.ts"
import { listEmailsOfRun } from "../../domain/emails/emails.ts"
import { sendTestEmail } from "../../domain/mail/test-mail.ts"
import { enqueueReplay, enqueueRun } from "../../domain/queue/enqueue-run.ts"
import { callAnonymously } from "../../domain/runs/call-anonymously.ts"
import { cancelRun } from "../../domain/runs/cancel-run.ts"
import { getRequestContent } from "../../domain/runs/contents/request-content.ts"
import { evalCode } from "../../domain/runs/eval-code.ts"
import {
  callVal,
  createRun,
  getStartedRun,
  type StartedRun,
} from "../../domain/runs/execute-run.ts"
import { listLatestLogs } from "../../domain/runs/follow/account-logs.ts"
import type { ReplayChanges } from "../../domain/runs/replay/replay-changes.ts"
import { replayRun } from "../../domain/runs/replay/replay-run.ts"
import type { CallArgs } from "../../domain/runs/runner.ts"
import { getRun, type RunDetail, type RunFilter } from "../../domain/runs/runs.ts"
import type { RunCounts } from "../../domain/stats/run-tally.ts"
import {
  type Activity,
  getAccountStats,
  getActivity,
  getValStats,
  type Stats,
} from "../../domain/stats/stats.ts"
import type { Handlers } from "../call.ts"
import type { Nouns } from "../nouns.ts"
import { invalidHeader } from "../request/preconditions.ts"
import { type ApiResponse, json, jsonText } from "../response/api-response.ts"
import { eventStream, toAccountEventText, toRunEventText } from "../response/event-stream.ts"
import { toAccountLogView, toRunDetailView } from "../response/run-views.ts"

/** Running vals, single runs, and statistics of runs. */
export function runHandlers(nouns: Nouns) {
  const { runs } = nouns
  return {
    createRun: async ({ caller, params, body, forwardedJson, request }) => {
      const { version, retries = 0 } = body
      const args = toArgs(body.args, forwardedJson)
      if (prefersAsync(request))
        return respondQueued(
          nouns,
          caller,
          await enqueueRun(runs, caller, params.val_id, { args, version, retries }),
        )
      if (retries > 0)
        throw new AppError(
          "invalid_request",
          'Cannot run the val with "retries": the request needs the header "prefer: respond-async"',
        )
      return respondRun(
        nouns,
        caller,
        await createRun(runs, caller, params.val_id, { args, version }),
      )
    },
    sendTestEmail: async ({ caller, params, body }) => {
      const run = await sendTestEmail(runs, caller, params.val_id, body)
      return json(202, await viewRun(nouns, caller, run), {
        location: nouns.api.links.run(run.id),
      })
    },
    callVal: async ({ body, forwardedJson, ...call }) =>
      respondCall(runs, call, toArgs(body.args, forwardedJson)),
    callValByQuery: async ({ query, ...call }) =>
      respondCall(runs, call, JSON.parse(query.args ?? "[]") as unknown[]),
    evalCode: async ({ caller, body, forwardedJson }) =>
      jsonText(
        200,
        await evalCode(runs, caller, { code: body.code, args: toArgs(body.args, forwardedJson) }),
      ),
    getRun: async ({ caller, params }) =>
      json(200, await viewRun(nouns, caller, await getRun(runs, caller, params.run_id))),
    getRunLogs: async ({ caller, params, request }) => {
      if (wantsEvents(request)) return followLogs(runs, caller, params.run_id, request)
      const { logs, logsTruncated, logGap } = await getRun(runs, caller, params.run_id)
      return json(200, { data: logs, logsTruncated, logsOmitted: logGap })
    },
    listMyLogs: async ({ caller, request }) => {
      if (wantsEvents(request)) return followAccount(runs, caller, request)
      return json(200, { data: (await listLatestLogs(runs, caller)).map(toAccountLogView) })
    },
    cancelRun: async ({ caller, params }) =>
      json(200, { found: await cancelRun(runs, caller, params.run_id) }),
    cancelEvaluation: async ({ caller, params }) =>
      json(200, { found: await cancelRun(runs, caller, params.run_id, params.val_id) }),
    replayRun: async ({ caller, params, body, request }) => {
      const changes = toChanges(body)
      return prefersAsync(request)
        ? respondQueued(nouns, caller, await enqueueReplay(runs, caller, params.run_id, changes))
        : respondRun(nouns, caller, await replayRun(runs, caller, params.run_id, changes))
    },
    getMyStats: async ({ caller, query }) =>
      json(200, toStatsView(await getAccountStats(runs, caller, query))),
    getValStats: async ({ caller, params, query }) =>
      json(200, toStatsView(await getValStats(runs, caller, params.val_id, query))),
    listMyActivity: async ({ caller, query }) =>
      json(200, toActivityView(await getActivity(runs, caller, query))),
  } satisfies Partial<Handlers>
}

interface ValCall {
  readonly caller: Caller | undefined
  readonly params: { readonly username: string; readonly val_name: string }
  readonly request: Request
}

async function respondCall(
  runs: Nouns["runs"],
  { caller, params, request }: ValCall,
  args: CallArgs,
): Promise<ApiResponse> {
  const { username, val_name: name } = params
  if (caller) return jsonText(200, await callVal(runs, caller, username, name, args))
  const depth = readDepth(request.headers.get(depthHeader))
  return jsonText(200, await callAnonymously(runs, { username, name, args, depth }))
}

function toArgs(
  args: readonly unknown[] | undefined,
  { args: json }: Readonly<Record<string, string>>,
): CallArgs {
  return json === undefined ? (args ?? []) : { json }
}

function toChanges(input: z.output<typeof replayRunBody>): ReplayChanges {
  const { headers, body, bodyBase64 } = input
  return {
    method: input.method,
    path: input.path,
    headers: headers && toHeaderPairs(headers),
    body:
      bodyBase64 === undefined
        ? body === undefined
          ? undefined
          : Buffer.from(body)
        : Buffer.from(bodyBase64, "base64"),
    args: input.args,
    version: input.version,
  }
}

/** Responds when the run has ended. */
async function respondRun(
  nouns: Nouns,
  caller: Caller,
  started: StartedRun<unknown>,
): Promise<ApiResponse> {
  await started.ended
  return json(200, await viewRun(nouns, caller, await getStartedRun(nouns.runs, caller, started)))
}

/** Responds with a run that waits. */
async function respondQueued(nouns: Nouns, caller: Caller, run: RunDetail): Promise<ApiResponse> {
  const headers = {
    location: nouns.api.links.run(run.id),
    "preference-applied": "respond-async",
  }
  return json(202, await viewRun(nouns, caller, run), headers)
}

async function viewRun(
  { services, accounts, vals, runs, api }: Nouns,
  caller: Caller,
  run: RunDetail,
) {
  const [emails, request] = await Promise.all([
    listEmailsOfRun(services, caller, run.id),
    getRequestContent({ ...runs, ...accounts, valSecrets: vals.valSecrets }, caller, run),
  ])
  return toRunDetailView(run, emails, request, api.links)
}

async function followLogs(
  runs: Nouns["runs"],
  caller: Caller,
  id: string,
  request: Request,
): Promise<ApiResponse> {
  const abort = new AbortController()
  const firstLine = parseLastEventId(request)
  const batches = await runs.followers.follow(caller, id, firstLine, abort.signal)
  return respondEvents(
    request,
    eventStream(batches, toRunEventText, () => abort.abort()),
  )
}

async function followAccount(
  runs: Nouns["runs"],
  caller: Caller,
  request: Request,
): Promise<ApiResponse> {
  const abort = new AbortController()
  const batches = runs.followers.followAccount(caller, abort.signal)
  return respondEvents(
    request,
    eventStream(batches, toAccountEventText, () => abort.abort()),
  )
}

async function respondEvents(request: Request, response: ApiResponse): Promise<ApiResponse> {
  if (request.method !== "HEAD") return response
  await response.stream?.cancel()
  return { status: response.status, headers: response.headers, body: null }
}

/** The filter of a query. */
export function toRunFilter(query: z.output<typeof runsQuery>): RunFilter {
  const { error, source: sources, status: statuses, text, since, until } = query
  return { error, sources, statuses, text, since, until }
}

function prefersAsync(request: Request): boolean {
  return listValues(request, "prefer").includes("respond-async")
}

/** A wildcard in `accept` does not ask for events: the client has to name the type. */
function wantsEvents(request: Request): boolean {
  return listValues(request, "accept").includes("text/event-stream")
}

/** The index of the first log line that the client has not received, from `last-event-id`. */
function parseLastEventId(request: Request): number {
  const header = request.headers.get("last-event-id")
  if (header === null || header === "") return 0
  if (/^\d{1,9}$/.test(header)) return Number(header) + 1
  throw invalidHeader("last-event-id", "must be the id of an event")
}

/** The values of a list header, without their parameters. */
function listValues(request: Request, name: string): readonly string[] {
  const header = request.headers.get(name) ?? ""
  return header.split(",").map((part) => (part.split(";")[0] ?? "").trim().toLowerCase())
}

/** Numbers of runs over time. */
function toStatsView(it: Stats): z.infer<typeof stats> {
  return {
    since: toTime(it.since),
    until: toTime(it.until),
    bucketMs: it.bucketMs,
    buckets: it.buckets.map((bucket) => ({ at: toTime(bucket.at), ...toCountsView(bucket) })),
    total: toCountsView(it.total),
    isPartial: it.isPartial,
  }
}

/** Numbers of runs of several vals over time. */
function toActivityView(it: Activity): z.infer<typeof activity> {
  return {
    since: toTime(it.since),
    until: toTime(it.until),
    bucketMs: it.bucketMs,
    data: it.vals.map((val) => ({
      valId: val.valId,
      runs: [...val.runs],
      errors: [...val.errors],
      lastRunAt: toTime(val.lastRunAt),
      lastStatus: val.lastStatus,
      lastRunId: val.lastRunId,
      lastRequest: val.lastRequest,
    })),
    isPartial: it.isPartial,
  }
}

function toCountsView({ runs, errors, p50Ms, p95Ms }: RunCounts): z.infer<typeof stats>["total"] {
  return { runs, errors, p50Ms, p95Ms }
}

function toTime(ms: number): string {
  return new Date(ms).toISOString()
}
