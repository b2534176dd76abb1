import { hasIdempotencyKey, type RouteDefinition, type RouteName, routes } from "@hamlet/contract"
import type { PageRoom } from "@hamlet/database/page"
import { currentWork, runOnce } from "@hamlet/kit"
import { runAs } from "../domain/access/acting.ts"
import { assertAccess, assertPerson, type Caller } from "../domain/access/caller.ts"
import { assertMayWriteFor } from "../domain/access/rights.ts"
import { AppError } from "../domain/app-error.ts"
import { runAtDepth } from "../domain/call-depth.ts"
import type { Call, Handler } from "./call.ts"
import type { ApiParts, Nouns } from "./nouns.ts"
import { parseBody, readBody } from "./request/body.ts"
import { saveBytesMax } from "./request/large-saves.ts"
import { parseIdempotencyKey, parseIfMatch, respondIfChanged } from "./request/preconditions.ts"
import { parseRequestUrl } from "./request/request-url.ts"
import { toQuery, validate } from "./request/validate.ts"
import type { ApiResponse } from "./response/api-response.ts"
import { toErrorResponse } from "./response/error-response.ts"

/** A request to a route of the table, whose caller is authenticated. */
export interface MatchedRequest {
  readonly request: Request
  readonly requestId: string
  readonly params: Readonly<Record<string, string>>
  readonly caller: Caller | undefined
  /** The run that sends it. */
  readonly runId: string | undefined
  /** The memory that the response may use. */
  readonly room: PageRoom
  /** The client's address. */
  address(): string
  /** What requests without a token count against. */
  rateKey(): string
}

/**
 * The steps of every request to a route: authorize, validate, replay the response to an earlier
 * request with the same idempotency key, call the handler, respond with 304 if nothing changed.
 */
export async function handleRoute(
  nouns: Nouns,
  name: RouteName,
  handler: Handler<RouteDefinition>,
  matched: MatchedRequest,
): Promise<ApiResponse> {
  const route: RouteDefinition = routes[name]
  const { allowances, api } = nouns
  const { request, caller } = matched
  const isAnonymous =
    caller === undefined && route.mayBeAnonymous === true && api.allowsAnonymousRuns
  if (!isAnonymous) assertAccess(route, caller)
  if (route.isPersonal && caller) assertPerson(caller)
  if (route.method !== "get" && !route.isPersonal && caller) assertMayWriteFor(caller)
  if (caller && /^(?:blob|sqlite):/.test(route.scope ?? ""))
    await allowances.takeStorageRequest(caller.ownerId)
  const { bodyBytesMax, mailBodyBytesMax } = api
  if (!route.isFilesBody || !caller || hasLength(request, bodyBytesMax))
    return respond(
      nouns,
      name,
      handler,
      matched,
      route.isMailBody ? mailBodyBytesMax : bodyBytesMax,
    )
  return api.largeSaves.run(caller.actorId, () =>
    respond(nouns, name, handler, matched, Math.max(bodyBytesMax, saveBytesMax)),
  )
}

/** Whether the request says how long its body is, and that it is not longer. */
function hasLength(request: Request, bytesMax: number): boolean {
  const length = request.headers.get("content-length")
  return length !== null && Number(length) <= bytesMax
}

async function respond(
  { idempotency, api }: Nouns,
  name: RouteName,
  handler: Handler<RouteDefinition>,
  matched: MatchedRequest,
  bytesMax: number,
): Promise<ApiResponse> {
  const route: RouteDefinition = routes[name]
  const { request, caller, room } = matched
  const params = route.params && validate(route.params, matched.params)
  const query = route.query && withRoom(validate(route.query, toQuery(request.url)), room)
  const sender = toSender(matched)
  const { bytes, body, forwardedJson } = route.body
    ? await api.bodyBudget.run(request, sender, bytesMax, async () =>
        toBody(api, name, matched, await readTimed(request, bytesMax, sender)),
      )
    : withoutBody
  const call: Call = {
    params,
    query,
    body: body as Call["body"],
    forwardedJson,
    ifMatch: route.hasIfMatch ? parseIfMatch(request.headers.get("if-match")) : undefined,
    caller,
    runId: matched.runId,
    request,
    room,
    address: matched.address,
  }
  const depth = caller?.depth ?? 0
  const idempotencyKey = hasIdempotencyKey(route)
    ? parseIdempotencyKey(request.headers.get("idempotency-key"))
    : undefined
  if (idempotencyKey !== undefined && caller) {
    // The scopes are part of the request: the response may contain a new token, which a token with
    // fewer scopes must not receive.
    const { pathname, search } = parseRequestUrl(request.url)
    const content = [
      route.method,
      route.query ? `${pathname}${search}` : pathname,
      bytes ?? "",
      [...caller.scopes].sort().join(" "),
      caller.ownerId,
      // What a run asks for may depend on its val.
      ...(caller.valId === undefined ? [] : [caller.valId]),
    ]
    return idempotency.respondOnce({ userId: caller.actorId, key: idempotencyKey, content }, () =>
      runAtDepth(depth, () => runAs(caller, () => callStorable(handler, call, matched.requestId))),
    )
  }
  const response = await runOnce(undefined, () =>
    runAtDepth(depth, () => runAs(caller, () => handler(call))),
  )
  return route.hasEtag ? respondIfChanged(response, request.headers.get("if-none-match")) : response
}

/** The query of a list is also what its rules read, which need the room of the page. */
function withRoom(
  query: Readonly<Record<string, unknown>>,
  room: PageRoom,
): Readonly<Record<string, unknown>> {
  return "limit" in query ? { ...query, room } : query
}

/** A client may send its body slowly, which is no fault of the server. */
async function readTimed(request: Request, bytesMax: number, sender: string): Promise<Uint8Array> {
  const startMs = performance.now()
  try {
    return await readBody(request, bytesMax, sender)
  } finally {
    const work = currentWork()
    if (work) work.clientMs += performance.now() - startMs
  }
}

/** The unit of fairness. */
function toSender({ caller, rateKey }: Pick<MatchedRequest, "caller" | "rateKey">): string {
  return caller?.actorId ?? rateKey()
}

interface CallBody {
  readonly bytes: Uint8Array | undefined
  readonly body: unknown
  readonly forwardedJson: Call["forwardedJson"]
}

const withoutBody: CallBody = { bytes: undefined, body: undefined, forwardedJson: {} }

async function toBody(
  { largeBodies }: ApiParts,
  name: RouteName,
  matched: MatchedRequest,
  bytes: Uint8Array,
): Promise<CallBody> {
  const route: RouteDefinition = routes[name]
  const { request } = matched
  const contentType = request.headers.get("content-type")
  if (largeBodies.isLarge(bytes))
    return {
      bytes,
      ...(await largeBodies.parse(toSender(matched), { route: name, bytes, contentType })),
    }
  const value = parseBody(bytes, contentType, route.isCodeBody ?? false)
  return { bytes, body: route.body && validate(route.body, value), forwardedJson: {} }
}

/** Calls a handler for a response that can be stored. An expected error is stored too. */
async function callStorable(
  handler: Handler<RouteDefinition>,
  call: Call,
  requestId: string,
): Promise<ApiResponse & { body: string }> {
  const response = await handler(call).catch((error: unknown) => {
    if (error instanceof AppError) return toErrorResponse(error, requestId)
    throw error
  })
  return {
    ...response,
    body: response.body === null ? "" : Buffer.from(response.body as Uint8Array).toString(),
  }
}
