import {
  activity,
  type replayRunBody,
  type runsQuery,
  stats,
  type statsQuery,
  toHeaderPairs,
  valActivity,
} from "@hamlet/contract"
import { parseJson } from "@hamlet/kit"
import { type CallArgs, depthHeader } from "@hamlet/sandbox"
import type { z } from "zod"
import type { Caller } from "../../domain/access/caller.ts"
import { AppError } from "../../domain/app-error.ts"
import { readDepth } from "../../domain/egress.ts"
import type { StartedRun } from "../../domain/runs/execute-run.ts"
import type { ReplayChanges } from "../../domain/runs/replay/replay-changes.ts"
import type { RunDetail, RunFilter } from "../../domain/runs/runs.ts"
import type { Activity, StatQuery, Stats } from "../../domain/stats/stats.ts"
import type { Handlers } from "../call.ts"
import type { Nouns } from "../nouns.ts"
import { invalidHeader } from "../request/preconditions.ts"
import { type ApiResponse, json, jsonText } from "../response/api-response.ts"
import { eventStream, toAccountEventText, toRunEventText } from "../response/event-stream.ts"
import { writeList } from "../response/page.ts"
import { createView } from "../response/view.ts"
import { toAccountLogView, toRunDetailView } from "../response/views.ts"

/** Running vals, single runs, and statistics of runs. */
export function runHandlers(nouns: Nouns) {
  const { calls, evaluations, queuedRuns, replays, runs, runStats, testMails } = nouns
  return {
    createRun: async ({ caller, params, body, forwardedJson, request }) => {
      const { version, branch, retries = 0 } = body
      const place = { path: body.file, branch, version }
      const args = toArgs(body.args, forwardedJson)
      if (prefersAsync(request))
        return respondQueued(
          nouns,
          caller,
          await queuedRuns.add(caller, params.val_id, { args, retries, ...place }),
        )
      if (retries > 0)
        throw new AppError(
          "invalid_request",
          'Cannot run the val with "retries": the request needs the header "prefer: respond-async"',
        )
      return respondRun(nouns, caller, await calls.start(caller, params.val_id, { args, ...place }))
    },
    sendTestEmail: async ({ caller, params, query, body }) => {
      const place = { path: query.file, branch: query.branch }
      const run = await testMails.send(caller, params.val_id, place, body)
      return json(202, await viewRun(nouns, caller, run), {
        location: nouns.api.links.run(run.id),
      })
    },
    callVal: async ({ body, forwardedJson, ...call }) =>
      respondCall(calls, call, toArgs(body.args, forwardedJson)),
    callValByQuery: async ({ query, ...call }) => respondCall(calls, call, parseArgs(query)),
    evalCode: async ({ caller, body, forwardedJson, request }) => {
      const input = { code: body.code, args: toArgs(body.args, forwardedJson) }
      return prefers(request, "return=representation")
        ? respondRun(nouns, caller, await evaluations.start(caller, input))
        : jsonText(200, await evaluations.run(caller, input))
    },
    evalCodeByQuery: async ({ caller, params, query }) =>
      jsonText(200, await evaluations.run(caller, { code: params.code, args: parseArgs(query) })),
    getRun: async ({ caller, params }) =>
      json(200, await viewRun(nouns, caller, await runs.get(caller, params.run_id))),
    getRunLogs: async ({ caller, params, request }) => {
      if (wantsEvents(request)) return followLogs(nouns, caller, params.run_id, request)
      const { logs, logsTruncated, logGap } = await runs.get(caller, params.run_id)
      return json(200, { data: logs, logsTruncated, logsOmitted: logGap })
    },
    listMyLogs: async ({ caller, request, room }) => {
      if (wantsEvents(request)) return followAccount(nouns, caller, request)
      const list = await writeList(await runs.listLatestLogs(caller), toAccountLogView, room)
      return list.end({})
    },
    cancelRun: async ({ caller, params }) =>
      json(200, { found: await runs.cancel(caller, params.run_id) }),
    cancelEvaluation: async ({ caller, params }) =>
      json(200, { found: await runs.cancel(caller, params.run_id, params.val_id) }),
    cancelEvaluationById: async ({ caller, params }) =>
      json(200, { found: await runs.cancel(caller, params.run_id) }),
    replayRun: async ({ caller, params, body, forwardedJson, request }) => {
      const changes = toChanges(body, forwardedJson)
      return prefersAsync(request)
        ? respondQueued(nouns, caller, await queuedRuns.addReplay(caller, params.run_id, changes))
        : respondRun(nouns, caller, await replays.start(caller, params.run_id, changes))
    },
    getMyStats: async ({ caller, query }) =>
      json(200, toStatsView(await runStats.getOfAccount(caller, toStatQuery(query)))),
    getValStats: async ({ caller, params, query }) =>
      json(200, toStatsView(await runStats.getOfVal(caller, params.val_id, toStatQuery(query)))),
    listMyActivity: async ({ caller, query }) =>
      json(200, toActivityView(await runStats.getActivity(caller, query))),
  } satisfies Partial<Handlers>
}

/** Longer than any URL that the server accepts. */
const argsCharsMax = 65_536

interface ValCall {
  readonly caller: Caller | undefined
  readonly params: { readonly username: string; readonly val_name: string }
  readonly request: Request
}

async function respondCall(
  calls: Nouns["calls"],
  { caller, params, request }: ValCall,
  args: CallArgs,
): Promise<ApiResponse> {
  const { username, val_name: name } = params
  if (caller) return jsonText(200, await calls.call(caller, username, name, args))
  const depth = readDepth(request.headers.get(depthHeader))
  return jsonText(200, await calls.callAnonymously({ username, name, args, depth }))
}

/** The arguments in a query, whose schema has checked that they are JSON. */
function parseArgs({ args = "[]" }: { readonly args?: string | undefined }): CallArgs {
  return parseJson(args, argsCharsMax) as unknown[]
}

function toArgs(
  args: readonly unknown[] | undefined,
  { args: json }: Readonly<Record<string, string>>,
): CallArgs {
  return json === undefined ? (args ?? []) : { json }
}

function toChanges(
  input: z.output<typeof replayRunBody>,
  forwardedJson: Readonly<Record<string, string>>,
): ReplayChanges {
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
    args:
      input.args === undefined && !("args" in forwardedJson)
        ? undefined
        : toArgs(input.args, forwardedJson),
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
  return json(200, await viewRun(nouns, caller, await nouns.runs.get(caller, started.id)))
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
  { outgoingMail, requestContents, api }: Nouns,
  caller: Caller,
  run: RunDetail,
) {
  const [emails, request] = await Promise.all([
    outgoingMail.listOfRun(caller, run.id),
    requestContents.get(caller, run),
  ])
  return toRunDetailView(run, emails, request, api.links)
}

async function followLogs(
  { followers }: Nouns,
  caller: Caller,
  id: string,
  request: Request,
): Promise<ApiResponse> {
  const abort = new AbortController()
  const firstLine = parseLastEventId(request)
  const batches = await followers.follow(caller, id, firstLine, abort.signal)
  return respondEvents(
    request,
    eventStream(batches, toRunEventText, () => abort.abort()),
  )
}

async function followAccount(
  { followers }: Nouns,
  caller: Caller,
  request: Request,
): Promise<ApiResponse> {
  const abort = new AbortController()
  const batches = followers.followAccount(caller, abort.signal)
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

function toStatQuery(query: z.output<typeof statsQuery>): StatQuery {
  const { file_id: fileId, branch_id: branchId, ...rest } = query
  return { ...rest, fileId, branchId }
}

/** The filter of a query. */
export function toRunFilter(query: z.output<typeof runsQuery>): RunFilter {
  const { error, source: sources, status: statuses, text, since, until } = query
  const { file_id: fileId, branch_id: branchId } = query
  return { error, sources, statuses, text, since, until, fileId, branchId }
}

function prefersAsync(request: Request): boolean {
  return prefers(request, "respond-async")
}

function prefers(request: Request, preference: string): boolean {
  return listValues(request, "prefer").includes(preference)
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
const toStatsView = createView(stats, (_it: Stats) => ({}))

/** Numbers of runs of several vals over time. */
const toActivityView = createView(activity, (it: Activity) => ({
  data: it.vals.map((val) => toValActivityView(val)),
}))

const toValActivityView = createView(valActivity, (_it: Activity["vals"][number]) => ({}))
