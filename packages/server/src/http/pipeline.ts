import { hasIdempotencyKey, type RouteDefinition } from "@hamlet/contract"
import { AppError } from "../domain/app-error.ts"
import { assertAccess, type Caller } from "../domain/caller.ts"
import { answerOnce } from "../domain/idempotency.ts"
import { type Answer, toErrorAnswer } from "./answer.ts"
import { parseBody, readBody } from "./body.ts"
import type { Call, Handler } from "./call.ts"
import type { HttpDeps } from "./deps.ts"
import { answerIfChanged, parseIdempotencyKey, parseIfMatch } from "./preconditions.ts"
import { parseTarget } from "./request-url.ts"
import { toQuery, validate } from "./validate.ts"

/** A request on its way to its handler. */
export interface Incoming {
  readonly request: Request
  readonly requestId: string
  readonly params: Readonly<Record<string, string>>
  readonly caller: Caller | undefined
  /** Of the client's connection. */
  address(): string
}

/** What every request to a route goes through: may the caller, is the input sound, was it done before, does the client have the answer. */
export async function answerRoute(
  deps: HttpDeps,
  route: RouteDefinition,
  handler: Handler<RouteDefinition>,
  incoming: Incoming,
): Promise<Answer> {
  const { request, caller } = incoming
  assertAccess(route, caller)
  if (caller && /^(?:blob|sqlite):/.test(route.scope ?? "")) deps.allowances.takeStorageRequest(caller.userId)
  const bytes = route.body ? await readBody(request, deps.bodyBytesMax) : undefined
  const call = toCall(route, incoming, bytes)
  const idempotencyKey = hasIdempotencyKey(route) ? parseIdempotencyKey(request.headers.get("idempotency-key")) : undefined
  if (idempotencyKey !== undefined && caller) {
    // What the token may do is part of the request: the answer may hold a new token, which one that may do less must not be given.
    const content = [route.method, parseTarget(request.url).pathname, bytes ?? "", [...caller.scopes].sort().join(" ")]
    return answerOnce(deps, { userId: caller.userId, key: idempotencyKey, content }, () =>
      answerOrExplain(handler, call, incoming.requestId),
    )
  }
  const answer = await handler(call)
  return route.hasEtag ? answerIfChanged(answer, request.headers.get("if-none-match")) : answer
}

function toCall(route: RouteDefinition, incoming: Incoming, bytes: Uint8Array | undefined): Call {
  const { request, params, caller, address } = incoming
  return {
    params: route.params && validate(route.params, params),
    query: route.query && validate(route.query, toQuery(request.url)),
    body:
      route.body &&
      validate(route.body, parseBody(bytes ?? new Uint8Array(), request.headers.get("content-type"), route.isCodeBody ?? false)),
    ifMatch: route.hasIfMatch ? parseIfMatch(request.headers.get("if-match")) : undefined,
    caller,
    request,
    address,
  }
}

/** A refusal is an answer too, and is given again like any other. */
async function answerOrExplain(handler: Handler<RouteDefinition>, call: Call, requestId: string): Promise<Answer & { body: string }> {
  const answer = await handler(call).catch((error: unknown) => {
    if (error instanceof AppError) return toErrorAnswer(error, requestId)
    throw error
  })
  return { ...answer, body: answer.body === null ? "" : answer.body.toString() }
}
