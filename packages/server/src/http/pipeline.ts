import { hasIdempotencyKey, type RouteDefinition, type RouteName, routes } from "@hamlet/contract"
import { assertAccess, type Caller } from "../domain/access.ts"
import { respondOnce } from "../domain/accounts/idempotency.ts"
import { AppError } from "../domain/app-error.ts"
import type { Call, Handler } from "./call.ts"
import type { HttpDeps } from "./deps.ts"
import { parseBody, readBody } from "./request/body.ts"
import { parseIdempotencyKey, parseIfMatch, respondIfChanged } from "./request/preconditions.ts"
import { parseTarget } from "./request/request-url.ts"
import { toQuery, validate } from "./request/validate.ts"
import { type ApiResponse, toErrorResponse } from "./response/api-response.ts"

/** A request on its way to its handler. */
export interface MatchedRequest {
  readonly request: Request
  readonly requestId: string
  readonly params: Readonly<Record<string, string>>
  readonly caller: Caller | undefined
  /** Of the client's connection. */
  address(): string
}

/**
 * What every request to a route goes through: may the caller, is the input sound, was it done
 * before, does the client have the answer.
 */
export async function handleRoute(
  deps: HttpDeps,
  name: RouteName,
  handler: Handler<RouteDefinition>,
  incoming: MatchedRequest,
): Promise<ApiResponse> {
  const route: RouteDefinition = routes[name]
  const { request, caller } = incoming
  const isAnonymous =
    caller === undefined && route.mayBeAnonymous === true && deps.allowsAnonymousRuns
  if (!isAnonymous) assertAccess(route, caller)
  if (caller && /^(?:blob|sqlite):/.test(route.scope ?? ""))
    deps.allowances.takeStorageRequest(caller.userId)
  const bytes = route.body ? await readBody(request, deps.bodyBytesMax) : undefined
  const call = await toCall(deps, name, incoming, bytes)
  const idempotencyKey = hasIdempotencyKey(route)
    ? parseIdempotencyKey(request.headers.get("idempotency-key"))
    : undefined
  if (idempotencyKey !== undefined && caller) {
    // What the token may do is part of the request: the answer may hold a new token, which one that
    // may do less must not be given.
    const content = [
      route.method,
      parseTarget(request.url).pathname,
      bytes ?? "",
      [...caller.scopes].sort().join(" "),
    ]
    return respondOnce(deps, { userId: caller.userId, key: idempotencyKey, content }, () =>
      answerOrExplain(handler, call, incoming.requestId),
    )
  }
  const answer = await handler(call)
  return route.hasEtag ? respondIfChanged(answer, request.headers.get("if-none-match")) : answer
}

async function toCall(
  deps: HttpDeps,
  name: RouteName,
  incoming: MatchedRequest,
  bytes: Uint8Array = new Uint8Array(),
): Promise<Call> {
  const route: RouteDefinition = routes[name]
  const { request, params: given, caller, address } = incoming
  const params = route.params && validate(route.params, given)
  const query = route.query && validate(route.query, toQuery(request.url))
  const contentType = request.headers.get("content-type")
  const { body, forwardedJson: texts } =
    route.body && deps.largeBodies.isLarge(bytes)
      ? await deps.largeBodies.parse(caller?.userId ?? address(), {
          route: name,
          bytes,
          contentType,
        })
      : {
          body:
            route.body &&
            validate(route.body, parseBody(bytes, contentType, route.isCodeBody ?? false)),
          forwardedJson: {},
        }
  return {
    params,
    query,
    body: body as Call["body"],
    forwardedJson: texts,
    ifMatch: route.hasIfMatch ? parseIfMatch(request.headers.get("if-match")) : undefined,
    caller,
    request,
    address,
  }
}

/** A refusal is an answer too, and is given again like any other. */
async function answerOrExplain(
  handler: Handler<RouteDefinition>,
  call: Call,
  requestId: string,
): Promise<ApiResponse & { body: string }> {
  const answer = await handler(call).catch((error: unknown) => {
    if (error instanceof AppError) return toErrorResponse(error, requestId)
    throw error
  })
  return {
    ...answer,
    body: answer.body === null ? "" : Buffer.from(answer.body as Uint8Array).toString(),
  }
}
