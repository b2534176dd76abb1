import type { runsQuery } from "@hamlet/contract"
import type { z } from "zod"
import type { Caller } from "../../domain/access.ts"
import { AppError } from "../../domain/app-error.ts"
import { depthHeader, readDepth } from "../../domain/egress.ts"
import { callAnonymously } from "../../domain/runs/call-anonymously.ts"
import { cancelRun } from "../../domain/runs/cancel-run.ts"
import { evalCode } from "../../domain/runs/eval-code.ts"
import {
  callVal,
  createRun,
  getStartedRun,
  type StartedRun,
} from "../../domain/runs/execute-run.ts"
import { replayRun } from "../../domain/runs/replay-run.ts"
import type { CallArgs } from "../../domain/runs/runner.ts"
import { getRun, type RunFilter } from "../../domain/runs/runs.ts"
import type { Handlers } from "../call.ts"
import type { HttpDeps } from "../deps.ts"
import { parseLastEventId, prefersAsync, wantsEvents } from "../request/preferences.ts"
import { type ApiResponse, json, jsonText } from "../response/api-response.ts"
import { eventStream } from "../response/event-stream.ts"
import { toRunDetailView } from "../views/views.ts"

/** Running vals, and single runs. */
export function runHandlers(deps: HttpDeps) {
  return {
    createRun: async ({ caller, params, body, forwardedJson: texts, request }) => {
      const started = await createRun(deps, caller, params.val_id, {
        args: toArgs(body.args, texts),
        version: body.version,
      })
      return answerRun(deps, caller, started, request)
    },
    callVal: async ({ body, forwardedJson: texts, ...asked }) =>
      answerCall(deps, asked, toArgs(body.args, texts)),
    callValByQuery: async ({ query, ...asked }) =>
      answerCall(deps, asked, JSON.parse(query.args ?? "[]") as unknown[]),
    evalCode: async ({ caller, body, forwardedJson: texts }) =>
      jsonText(
        200,
        await evalCode(deps, caller, { code: body.code, args: toArgs(body.args, texts) }),
      ),
    getRun: async ({ caller, params }) =>
      json(200, toRunDetailView(await getRun(deps, caller, params.run_id))),
    getRunLogs: async ({ caller, params, request }) => {
      if (wantsEvents(request)) return followLogs(deps, caller, params.run_id, request)
      const { logs, logsTruncated } = await getRun(deps, caller, params.run_id)
      return json(200, { data: logs, logsTruncated })
    },
    cancelRun: async ({ caller, params }) =>
      json(200, { found: await cancelRun(deps, caller, params.run_id) }),
    cancelEvaluation: async ({ caller, params }) =>
      json(200, { found: await cancelRun(deps, caller, params.run_id, params.val_id) }),
    replayRun: async ({ caller, params, request }) =>
      answerRun(deps, caller, await replayRun(deps, caller, params.run_id), request),
  } satisfies Partial<Handlers>
}

interface CallAsked {
  readonly caller: Caller | undefined
  readonly params: { readonly username: string; readonly val_name: string }
  readonly request: Request
}

async function answerCall(
  deps: HttpDeps,
  { caller, params, request }: CallAsked,
  args: CallArgs,
): Promise<ApiResponse> {
  const { username, val_name: name } = params
  if (caller) return jsonText(200, await callVal(deps, caller, username, name, args))
  const depth = readDepth(request.headers.get(depthHeader))
  return jsonText(200, await callAnonymously(deps, { username, name, args, depth }))
}

function toArgs(
  args: readonly unknown[] | undefined,
  { args: json }: Readonly<Record<string, string>>,
): CallArgs {
  return json === undefined ? (args ?? []) : { json }
}

/**
 * The whole run when it has ended, or the run as it begins when that is what the client prefers.
 */
async function answerRun(
  deps: HttpDeps,
  caller: Caller,
  started: StartedRun<unknown>,
  request: Request,
): Promise<ApiResponse> {
  if (!prefersAsync(request)) {
    await started.ended
    return json(200, toRunDetailView(await getStartedRun(deps, caller, started)))
  }
  started.ended.catch((error: unknown) => {
    // A refusal is in the run for whoever looks; only what nobody expected is for the operator.
    if (!(error instanceof AppError))
      deps.log.error("run", { runId: started.id, error: String(error) })
  })
  const headers = { location: deps.links.run(started.id), "preference-applied": "respond-async" }
  return json(202, toRunDetailView(await getStartedRun(deps, caller, started)), headers)
}

async function followLogs(
  deps: HttpDeps,
  caller: Caller,
  id: string,
  request: Request,
): Promise<ApiResponse> {
  const leaving = new AbortController()
  const leave = () => leaving.abort()
  const steps = await deps.followers.follow(caller, id, parseLastEventId(request), leaving.signal)
  const answer = eventStream(steps, leave)
  if (request.method !== "HEAD") return answer
  await answer.stream?.cancel()
  return { status: answer.status, headers: answer.headers, body: null }
}

/** The filter that a query asks for. */
export function toRunFilter(query: z.output<typeof runsQuery>): RunFilter {
  return { error: query.error, sources: query.source, since: query.since, until: query.until }
}
