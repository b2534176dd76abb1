import { limits, type Method, type RouteDefinition, type RouteName, routes } from "@hamlet/contract"
import { toKnownMethod } from "@hamlet/http1"
import {
  type Attributes,
  currentWork,
  explainWaits,
  parseTraceparent,
  replaceEach,
  runWork,
  startRequest,
  toFailure,
  toRegExp,
  Work,
} from "@hamlet/kit"
import type { Caller } from "../domain/access/caller.ts"
import { tokenPattern } from "../domain/accounts/token-text.ts"
import { AppError } from "../domain/app-error.ts"
import { logLimits } from "../shared/log-limits.ts"
import { toClientKey } from "../shared/system/client-key.ts"
import { type Authenticator, createAuthenticator, toSessionResponse } from "./auth/authenticate.ts"
import type { ApiConnection, Endpoint, Handler, Handlers } from "./call.ts"
import { createEndpoints } from "./endpoints.ts"
import { createHandlers } from "./handlers.ts"
import type { ApiParts, Nouns } from "./nouns.ts"
import { createMetrics } from "./ops/metrics.ts"
import { assertMetricsToken, hasMetrics } from "./ops/metrics-access.ts"
import { isWebAppPath, serveWebApp } from "./pages/web-app.ts"
import { handleRoute } from "./pipeline.ts"
import { matchRoute, methodsOf, type RouteMatch } from "./request/match-route.ts"
import { toPath } from "./request/request-url.ts"
import type { ApiResponse } from "./response/api-response.ts"
import { toErrorResponse } from "./response/error-response.ts"
import { preflight, toResponse } from "./response/to-response.ts"

/** The API as a function from request to response, independent of any port. */
export interface App {
  fetch(request: Request, connection?: ApiConnection): Promise<Response>
  /** For tests and for programs in the same process. */
  request(input: string | URL | Request, init?: RequestInit): Promise<Response>
}

/** Creates the API. Every request gets a response with a request id, and is logged and counted. */
export function createApp(nouns: Nouns): App {
  const { runner, liveRuns, queue, schedules, api } = nouns
  const metrics = createMetrics({
    database: api.databaseStats,
    node: api.nodeStatus,
    services: api.serviceStatus,
    runner: () => runner.status(),
    recorder: () => ({ ...liveRuns.stats(), ended: liveRuns.endedRuns() }),
    loopDelay: () => api.loopDelay.report(),
    refusals: () => api.refusals.list(),
    queue: () => queue.stats(),
    schedules: () => schedules.stats(),
    mailServer: api.mailStats,
    spans: api.spanCounts,
  })
  const authenticator = createAuthenticator(nouns)
  // Assistants call the API through an endpoint of the API.
  const findEndpoint = createEndpoints(nouns, authenticator, (request, connection) =>
    fetch(request, connection),
  )
  const respond = createResponder(nouns, createHandlers(nouns, metrics), authenticator)
  const isLogged = api.log.writes("info")
  const fetch = async (request: Request, connection: ApiConnection = {}): Promise<Response> => {
    const startedMs = performance.now()
    const requestId = Bun.randomUUIDv7()
    const { method } = request
    const path = toPath(request)
    const match = matchRoute(path)
    const endpoint = match ? undefined : findEndpoint(path)
    if (method === "OPTIONS" && !hasSeveralHosts(request))
      return preflight(endpoint?.methods ?? (match ? methodsOf(match) : []), requestId, request)
    const route = match?.routes.get(toRouteMethod(method))
    const work = new Work()
    if (api.tracer && !probes.has(route)) {
      const { headers } = request
      const parent = parseTraceparent(headers.get("traceparent"), headers.get("tracestate"))
      work.span = startRequest(api.tracer, toSpanName(route), parent, requestId)
    }
    const context: RequestContext = {
      request,
      requestId,
      path,
      match,
      route,
      endpoint,
      connection,
      caller: undefined,
    }
    let response: ApiResponse
    try {
      response = await runWork(work, () => respond(context))
    } catch (error) {
      response = respondError(api, error, requestId)
    }
    work.owner = undefined
    const ms = performance.now() - startedMs
    metrics.observe(route ?? "none", method, response.status, ms)
    if (isLogged && !isAnsweredProbe(route, response))
      api.log.info("request", toLogFields(api, context, response.status, ms))
    if (ms >= api.slowRequests.msMin)
      api.slowRequests.note({
        ...toLogFields(api, context, response.status, ms),
        ...explain(work, ms),
      })
    work.span?.end(describeSpan(context, response.status), toFailure(response.status))
    return toResponse(response, requestId, request)
  }
  return { fetch, request: (input, init) => fetch(new Request(input, init)) }
}

const probes: ReadonlySet<RouteName | undefined> = new Set<RouteName>([
  "getHealth",
  "getReadiness",
  "getMetrics",
])

/** Balancers and collectors ask every few seconds: the log has only those that failed. */
function isAnsweredProbe(route: RouteName | undefined, { status }: ApiResponse): boolean {
  return probes.has(route) && status === 200
}

interface RequestContext {
  readonly request: Request
  readonly requestId: string
  readonly path: string
  readonly match: RouteMatch | undefined
  readonly route: RouteName | undefined
  readonly endpoint: Endpoint | undefined
  readonly connection: ApiConnection
  /** Set after authentication. */
  caller: Caller | undefined
}

/** Paths have ids, so the route names the span. */
function toSpanName(route: RouteName | undefined): string {
  return route ? `${routes[route].method.toUpperCase()} ${routes[route].path}` : "request"
}

function describeSpan(
  { request, requestId, route, caller }: RequestContext,
  status: number,
): Attributes {
  return {
    "http.request.method": toKnownMethod(request.method),
    "http.route": route && routes[route].path,
    "http.response.status_code": status,
    "hamlet.request.id": requestId,
    "hamlet.user.id": caller?.actorId,
  }
}

/** For the log of slow requests. The rest is the val that a caller waits for, or the server's work. */
function explain({ databaseMs, clientMs, queueMs, processMs, egressMs }: Work, ms: number): object {
  const known = databaseMs + clientMs + queueMs + processMs + egressMs
  return explainWaits({
    database: databaseMs,
    client: clientMs,
    queue: queueMs,
    process: processMs,
    egress: egressMs,
    rest: Math.max(0, ms - known),
  })
}

const tokens = toRegExp(tokenPattern.source, "g", 1_000)

function toLogFields(
  api: ApiParts,
  { request, requestId, path, route, connection, caller }: RequestContext,
  status: number,
  ms: number,
): object {
  const address = api.hasAddressesInLog ? connection.address?.() : undefined
  return {
    requestId,
    method: request.method.slice(0, logLimits.methodCharsMax),
    path: toLoggedPath(path),
    route,
    status,
    ms: Math.round(ms * 100) / 100,
    user: caller?.actorName,
    userId: caller?.actorId,
    address: address?.slice(0, logLimits.addressCharsMax) || undefined,
  }
}

/**
 * The part of a path that is logged: a path may have any length. Clients sometimes put a token into
 * the path by mistake, and it may cross the end of that part. Code is not logged.
 */
function toLoggedPath(path: string): string {
  if (path.startsWith("/v1/eval/")) return routes.evalCodeByQuery.path
  const { pathCharsMax } = logLimits
  const start = path.slice(0, pathCharsMax + limits.tokenCharsMax)
  return replaceEach(start, tokens, "hamlet_***", start.length).slice(0, pathCharsMax)
}

function createResponder(
  nouns: Nouns,
  handlers: Handlers,
  authenticator: Authenticator,
): (context: RequestContext) => Promise<ApiResponse> {
  return async (context) => {
    const { request, requestId, match, route: name, endpoint, connection } = context
    if (hasSeveralHosts(request))
      throw new AppError(
        "invalid_request",
        "Cannot accept the Host header: it names more than one host",
      )
    const address = () => connection.address?.() ?? ""
    const rateKey = () => connection.rateKey ?? toClientKey(address())
    setOwner(rateKey)
    const room = nouns.api.responseRooms.open(() => context.caller?.actorId ?? rateKey(), request)
    if (endpoint) return room.fit(await respondAtEndpoint(endpoint, context))
    if (!match || !name) return respondOutsideTable(nouns, context)
    if (name === "getMetrics") {
      const { metricsAccess } = nouns.api
      if (!hasMetrics(metricsAccess, connection)) throw notFound(context.path)
      assertMetricsToken(metricsAccess, request)
    }
    const route: RouteDefinition = routes[name]
    if (route.isCountedByAddress) await authenticator.countByAddress(rateKey)
    if (route.isSignIn) await authenticator.assertSignInAllowed(request, rateKey)
    const { caller, session } =
      route.auth === "none" ? {} : await authenticator.identify(request, rateKey)
    context.caller = caller
    if (caller) setOwner(() => caller.actorId)
    // The types tie each handler to its row of the table; a lookup by name loses that.
    const handler = handlers[name] as unknown as Handler<RouteDefinition>
    const { params } = match
    const { runId } = connection
    const matched = { request, requestId, params, caller, address, rateKey, runId, room }
    try {
      const response = await handleRoute(nouns, name, handler, matched)
      // Operators see how the server is also when it has no room.
      if (probes.has(name)) return response
      return await room.fit(session === undefined ? response : toSessionResponse(response, session))
    } catch (error) {
      room.release()
      throw error
    }
  }
}

/** Says for whom the request is, so that its writes take turns with those of others. */
function setOwner(toOwner: () => string): void {
  const work = currentWork()
  if (work) work.owner = toOwner()
}

async function respondAtEndpoint(
  endpoint: Endpoint,
  context: RequestContext,
): Promise<ApiResponse> {
  const { method } = context.request
  return endpoint.methods.includes(method)
    ? endpoint.respond(context)
    : refuseMethod(method, context.path, endpoint.methods, context.requestId)
}

/**
 * A proxy in front of the server may use one of two Host headers, and the server the other, so such
 * a request is refused (RFC 9112, section 3.2). Bun joins both with a comma, which no host contains.
 */
function hasSeveralHosts(request: Request): boolean {
  return request.headers.get("host")?.includes(",") ?? false
}

/** HEAD is handled as GET; Bun drops the body. */
function toRouteMethod(method: string): Method {
  return (method === "HEAD" ? "get" : method.toLowerCase()) as Method
}

/** Serves the web app, which is not in the route table. */
async function respondOutsideTable(
  nouns: Nouns,
  { request, requestId, path, match }: RequestContext,
): Promise<ApiResponse> {
  const { method } = request
  if (match) return refuseMethod(method, path, methodsOf(match), requestId)
  const isKnown = isWebAppPath(path)
  if (!(isKnown || isPageRequest(request, path))) throw notFound(path)
  if (toRouteMethod(method) !== "get")
    return refuseMethod(method, path, ["GET", "HEAD", "OPTIONS"], requestId)
  const response = await serveWebApp(nouns, path, request)
  return isKnown ? response : { ...response, status: 404 }
}

/** Whether a browser opens a path outside of the API: its user gets a page that says "not found". */
function isPageRequest(request: Request, path: string): boolean {
  const isRead = toRouteMethod(request.method) === "get"
  const isApi = /^\/v[0-9]+(?:\/|$)/.test(path)
  return isRead && !isApi && (request.headers.get("accept")?.includes("text/html") ?? false)
}

function notFound(path: string): AppError {
  return new AppError("route_not_found", `Cannot find ${path}: no route has this path`)
}

function refuseMethod(
  method: string,
  path: string,
  methods: readonly string[],
  requestId: string,
): ApiResponse {
  const error = new AppError(
    "method_not_allowed",
    `Cannot ${method} ${path}: it supports ${methods.join(", ")}`,
  )
  const response = toErrorResponse(error, requestId)
  return { ...response, headers: { ...response.headers, allow: methods.join(", ") } }
}

/** An `AppError` is sent to the client; any other error is a bug, whose details are only logged. */
function respondError(api: ApiParts, error: unknown, requestId: string): ApiResponse {
  if (error instanceof AppError) {
    if (/^(?:(?:database|storage|web_app)_unavailable|secret_key_missing)$/.test(error.code))
      api.log.warn(error.code, {
        requestId,
        message: error.message,
        cause: String(error.cause ?? ""),
      })
    return toErrorResponse(error, requestId)
  }
  api.log.error("internal", {
    requestId,
    error: error instanceof Error ? (error.stack ?? error.message) : String(error),
  })
  return toErrorResponse(
    new AppError(
      "internal",
      "Cannot respond: an internal error occurred; it is logged under this request id",
    ),
    requestId,
  )
}
