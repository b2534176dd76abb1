import { type Method, type RouteDefinition, type RouteName, routes } from "@hamlet/contract"
import type { Caller } from "../domain/access.ts"
import { tokenPattern } from "../domain/accounts/token-text.ts"
import { AppError } from "../domain/app-error.ts"
import { logLimits } from "../shared/log-limits.ts"
import { createAuthenticator } from "./auth/authenticate.ts"
import type { Handler } from "./call.ts"
import type { HttpDeps } from "./deps.ts"
import { createHandlers } from "./handlers.ts"
import { createMetrics } from "./ops/metrics.ts"
import { isWebAppPath, serveWebApp } from "./pages/web-app.ts"
import { handleRoute } from "./pipeline.ts"
import { type Match, matchRoute, methodsOf } from "./request/match-route.ts"
import { toPath } from "./request/request-url.ts"
import { type ApiResponse, toErrorResponse } from "./response/api-response.ts"
import { toSessionResponse } from "./response/session-response.ts"
import { preflight, toResponse } from "./response/to-response.ts"
import { docsAsset } from "./routes/system.ts"

/** What the server knows of a connection. */
export interface Connection {
  address?(): string
  /** What requests without a token are counted by; the address unless it is given. */
  readonly rateKey?: string
}

/** The API as a function from request to response; nothing in it knows of ports. */
export interface App {
  fetch(request: Request, connection?: Connection): Promise<Response>
  /** The same for a test or a program in the same process. */
  request(input: string | URL | Request, init?: RequestInit): Promise<Response>
}

/**
 * Puts the API together. Whatever happens, the client gets an answer with a request id, and the log
 * and the counters hear of it.
 */
export function createApp(deps: HttpDeps): App {
  const metrics = createMetrics(
    deps.databaseStats,
    () => deps.runner.status(),
    () => ({ ...deps.liveRuns.stats(), ended: deps.liveRuns.endedRuns() }),
    () => deps.loopDelay.report(),
    () => deps.refusals.list(),
  )
  const answer = createAnswerer(
    deps,
    createHandlers(deps, metrics) as unknown as Record<RouteName, Handler<RouteDefinition>>,
  )
  const isLogged = deps.log.writes("info")
  const fetch = async (request: Request, connection: Connection = {}) => {
    const started = performance.now()
    const requestId = Bun.randomUUIDv7()
    const { method } = request
    const path = toPath(request)
    const match = matchRoute(path)
    if (method === "OPTIONS" && !hasSeveralHosts(request))
      return preflight(match ? methodsOf(match) : [], requestId, request)
    const route = match?.routes.get(toMethod(method))
    const arrival: Arrival = {
      request,
      requestId,
      path,
      match,
      route,
      connection,
      caller: undefined,
    }
    let result: ApiResponse
    try {
      result = await answer(arrival)
    } catch (error) {
      result = explain(deps, error, requestId)
    }
    const ms = performance.now() - started
    metrics.observe(route ?? "none", method, result.status, ms / 1000)
    if (isLogged) deps.log.info("request", toLogFields(deps, arrival, result.status, ms))
    return toResponse(result, requestId, request)
  }
  return { fetch, request: (input, init) => fetch(new Request(input, init)) }
}

interface Arrival {
  readonly request: Request
  readonly requestId: string
  readonly path: string
  readonly match: Match | undefined
  readonly route: RouteName | undefined
  readonly connection: Connection
  /** Whoever sent it, once that is known. */
  caller: Caller | undefined
}

const tokens = new RegExp(tokenPattern, "g")

function toLogFields(
  deps: HttpDeps,
  { request, requestId, path, route, connection, caller }: Arrival,
  status: number,
  ms: number,
): object {
  const address = deps.hasAddressesInLog ? connection.address?.() : undefined
  return {
    requestId,
    method: request.method.slice(0, logLimits.methodCharsMax),
    // A token belongs into no path, but that does not keep it from getting there.
    path: path.replaceAll(tokens, "hamlet_***").slice(0, logLimits.pathCharsMax),
    route,
    status,
    ms: Math.round(ms * 100) / 100,
    user: caller?.username,
    userId: caller?.userId,
    address: address?.slice(0, logLimits.addressCharsMax) || undefined,
  }
}

// The table's types tie each handler to its row; a lookup by name has to forget which is which.
function createAnswerer(
  deps: HttpDeps,
  handlers: Record<RouteName, Handler<RouteDefinition>>,
): (arrival: Arrival) => Promise<ApiResponse> {
  const authenticator = createAuthenticator(deps)
  return async (arrival) => {
    const { request, requestId, match, route: name, connection } = arrival
    if (hasSeveralHosts(request))
      throw new AppError(
        "invalid_request",
        "Cannot accept the Host header: it names more than one host",
      )
    if (!match || !name) return answerElsewhere(deps, arrival)
    const route: RouteDefinition = routes[name]
    const address = () => connection.address?.() ?? ""
    const rateKey = () => connection.rateKey ?? address()
    if (route.isCountedByAddress) authenticator.countByAddress(rateKey)
    if (route.isSignIn) authenticator.assertSignInAllowed(request, rateKey)
    const { caller, session } =
      route.auth === "none" ? {} : await authenticator.identify(request, rateKey)
    arrival.caller = caller
    const answer = await handleRoute(deps, name, handlers[name], {
      request,
      requestId,
      params: match.params,
      caller,
      address,
    })
    return session === undefined ? answer : toSessionResponse(answer, session)
  }
}

/**
 * A proxy before the server and the server may each believe another of two Host headers, so such a
 * request is refused, as RFC 9112 asks for. Bun makes one value of them, with a comma between them,
 * which is part of no host.
 */
function hasSeveralHosts(request: Request): boolean {
  return request.headers.get("host")?.includes(",") ?? false
}

/** HEAD is answered like GET; the body is left out at the very end. */
function toMethod(method: string): Method {
  return (method === "HEAD" ? "get" : method.toLowerCase()) as Method
}

/**
 * What is not in the table: the pages of the web app, the files that pages load, and nothing else.
 */
async function answerElsewhere(
  deps: HttpDeps,
  { request, requestId, path, match }: Arrival,
): Promise<ApiResponse> {
  const { method } = request
  if (match) return refuseMethod(method, path, methodsOf(match), requestId)
  const isDocsFile = path.startsWith("/docs/assets/")
  if (!(isDocsFile || isWebAppPath(path)))
    throw new AppError("route_not_found", `Cannot find ${path}: no route has this path`)
  if (toMethod(method) !== "get")
    return refuseMethod(method, path, ["GET", "HEAD", "OPTIONS"], requestId)
  return isDocsFile ? docsAsset(deps, path, request) : serveWebApp(deps, path, request)
}

function refuseMethod(
  method: string,
  path: string,
  methods: readonly string[],
  requestId: string,
): ApiResponse {
  const error = new AppError(
    "method_not_allowed",
    `Cannot ${method} ${path}: it takes ${methods.join(", ")}`,
  )
  const answer = toErrorResponse(error, requestId)
  return { ...answer, headers: { ...answer.headers, allow: methods.join(", ") } }
}

/**
 * An error we expect is told; anything else is a bug: the caller sees the request id, the log sees
 * the rest.
 */
function explain(deps: HttpDeps, error: unknown, requestId: string): ApiResponse {
  if (error instanceof AppError) {
    if (/^(?:database|storage|web_app)_unavailable$/.test(error.code))
      deps.log.warn(error.code, {
        requestId,
        message: error.message,
        cause: String(error.cause ?? ""),
      })
    return toErrorResponse(error, requestId)
  }
  deps.log.error("internal", {
    requestId,
    error: error instanceof Error ? (error.stack ?? error.message) : String(error),
  })
  return toErrorResponse(
    new AppError(
      "internal",
      "Cannot answer: the server made a mistake, which was logged under this request id",
    ),
    requestId,
  )
}
