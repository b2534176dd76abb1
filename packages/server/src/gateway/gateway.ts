import type { ErrorCode } from "@hamlet/contract"
import { AppError } from "../domain/app-error.ts"
import { assertDepth, depthHeader, readDepth } from "../domain/egress.ts"
import { RateLimited } from "../domain/limits/rate-limit.ts"
import { openPass } from "../domain/requests/preview-pass.ts"
import { assertRunnable } from "../domain/runs/execute-run.ts"
import type { Program, RunSlot } from "../domain/runs/runner.ts"
import type { Val } from "../domain/vals/vals.ts"
import { Deadlines } from "./deadlines.ts"
import type { GatewayConnection, GatewayDeps } from "./deps.ts"
import { createFindVal, type FindVal } from "./find-val.ts"
import { type GatewayLimits, gatewayLimits } from "./limits.ts"
import {
  anonymous,
  authorize,
  identify,
  isOwner,
  type KnownPrincipal,
  ownerOf,
  type Principal,
} from "./principal.ts"
import { type RequestBody, readRequestBody } from "./request/request-body.ts"
import { type HeaderRecord, prepareRequestHeaders, readHeaders } from "./request/request-headers.ts"
import { toRunInput } from "./request/run-input.ts"
import { UploadLimiter } from "./request/upload-limiter.ts"
import {
  disableIdleTimeout,
  finish,
  type RequestContext,
  respondRejected,
  respondStopped,
} from "./request-context.ts"
import { RequestTrace, toLogFields } from "./request-log.ts"
import { toErrorPage } from "./response/error-page.ts"
import { forwardResponse } from "./response/forward-response.ts"
import { isSocketRequest, openSocket } from "./sockets/open-socket.ts"
import { Sockets } from "./sockets/sockets.ts"
import { createValHosts, type ValAddress, type ValHosts } from "./val-hosts.ts"

/** Serves the web addresses of vals. */
export interface Gateway {
  /** Whether the gateway, rather than the API, serves a request with that `Host` header. */
  isValHost(host: string): boolean
  /** Responds to a request; undefined when the connection has become a WebSocket. Never rejects. */
  fetch(request: Request, connection: GatewayConnection): Promise<Response | undefined>
  /**
   * The same for a request from this process, which names the sender. The `Authorization` header
   * does not identify it and is meant for the val.
   */
  fetchAs(request: Request, principal: KnownPrincipal): Promise<Response>
  /** Closes open WebSockets. */
  stop(): void
}

interface Parts {
  readonly deps: GatewayDeps
  readonly limits: GatewayLimits
  readonly hosts: ValHosts
  readonly findVal: FindVal
  readonly deadlines: Deadlines
  readonly sockets: Sockets
  readonly uploads: UploadLimiter
  readonly proto: string
}

/** Creates the gateway. */
export function createGateway(deps: GatewayDeps): Gateway {
  const limits = { ...gatewayLimits, ...deps.limits }
  const deadlines = new Deadlines(limits.sweepMs)
  const sockets = new Sockets(limits, deadlines)
  const hosts = createValHosts(deps.valsDomain, deps.baseUrl, limits.hostsMax)
  const findVal = createFindVal(
    deps.vals,
    (pass) => openPass(deps.cipher, pass, deps.now()),
    limits.hostsMax,
  )
  const parts = {
    deps,
    limits,
    hosts,
    findVal,
    deadlines,
    sockets,
    uploads: new UploadLimiter(limits),
    proto: deps.baseUrl.startsWith("https:") ? "https" : "http",
  }
  // A caller in this process reads the response itself, as it arrives: buffering all of it may take
  // an hour.
  const unbuffered = { ...parts, limits: { ...limits, wholeResponseBytesMax: 0 } }
  return {
    isValHost: hosts.isValHost,
    fetch: (request, connection) => respondLogged(parts, request, connection),
    async fetchAs(request, { caller, address }) {
      const connection = { address, timeout() {}, upgrade: () => false }
      return (await respondLogged(unbuffered, request, connection, caller)) ?? Response.error()
    },
    stop() {
      sockets.stop()
      deadlines.stop()
    },
  }
}

/** Logs the request when its response begins. The record of the run has the total duration. */
async function respondLogged(
  parts: Parts,
  request: Request,
  connection: GatewayConnection,
  caller?: Principal["caller"],
): Promise<Response | undefined> {
  const { logRequest, hasAddressesInLog } = parts.deps
  const trace = new RequestTrace()
  const response = await respond(parts, request, connection, trace, caller)
  const logged = hasAddressesInLog ? connection : undefined
  logRequest?.(toLogFields(request, logged, trace, response?.status ?? 101))
  return response
}

async function respond(
  parts: Parts,
  request: Request,
  connection: GatewayConnection,
  trace: RequestTrace,
  caller: Principal["caller"],
): Promise<Response | undefined> {
  const headers = readHeaders(request.headers)
  let body: RequestBody | undefined
  let context: RequestContext | undefined
  let slot: RunSlot | undefined
  try {
    const { address, val, principal, access } = await resolve(parts, headers, trace, caller)
    if (!address || !val || access !== "yes") return respondNotFound(parts, access, headers, trace)
    assertRunnable(val)
    assertMethod(request.method)
    const depth = readDepth(headers[depthHeader])
    assertDepth(depth)
    parts.deps.allowances.takeRun(val.ownerId)
    const { limits, deadlines, sockets, deps } = parts
    const acquireUpload = () => parts.uploads.acquire(val.id, connection.address())
    body = await readRequestBody(request, headers, { limits, deadlines, acquireUpload })
    const program = await deps.programs.of(val, val.ownerId)
    const isSocket = isSocketRequest(request.method, headers)
    if (isSocket) sockets.assertRoom(val.id)
    const accepted = { request, headers, connection, address, val, principal, body, depth }
    context = toContext(parts, { ...accepted, program, isSocket })
    trace.runId = context.run.id
    try {
      slot = await deps.runner.acquire(program, context.run, request)
    } catch (error) {
      if (error instanceof AppError && !request.signal.aborted)
        recordRefusal(deps, trace, error.code)
      return respondRejected(context, error)
    }
    context.run.attach(slot)
    if (isSocket) return await openSocket(context, slot, sockets, deadlines)
    const outcome = await slot.fetch(context.slotRequest)
    return outcome.kind === "stopped"
      ? respondStopped(context, slot, outcome)
      : await forwardResponse(context, slot, outcome.response, deadlines)
  } catch (error) {
    // On any error, the run ends, and its slot and its upload are released.
    body?.stop()
    if (context)
      finish(context, slot, {
        status: "crashed",
        error: { name: "Error", message: "An internal error of the server ended the run" },
      })
    return respondError(parts, error, headers, request, trace)
  }
}

interface Resolved {
  readonly address: ValAddress | undefined
  readonly val: Val | undefined
  readonly principal: Principal
  readonly access: ReturnType<typeof authorize>
}

/** Finds the val and decides whether the sender may call it. */
async function resolve(
  { deps, hosts, findVal }: Parts,
  headers: HeaderRecord,
  trace: RequestTrace,
  caller: Principal["caller"],
): Promise<Resolved> {
  const address = hosts.parse(headers.host ?? "")
  // The token is checked before the val is looked up: otherwise the response time would reveal
  // whether a private val exists.
  const sender =
    headers.authorization === undefined ? anonymous : await identify(deps, headers.authorization)
  const user = caller ?? sender.caller
  const val = address && (await findVal(address, user?.userId))
  trace.address = address
  trace.user = user
  trace.val = val
  const principal =
    caller || address?.pass !== undefined ? { ...sender, caller: caller ?? ownerOf(val) } : sender
  return { address, val, principal, access: authorize(val, principal) }
}

function assertMethod(method: string): void {
  if (method === "CONNECT")
    throw new AppError("method_not_allowed", "Cannot CONNECT: a val is not a proxy")
}

interface AcceptedRequest {
  readonly request: Request
  readonly headers: HeaderRecord
  readonly connection: GatewayConnection
  readonly address: ValAddress
  readonly val: Val
  readonly principal: Principal
  readonly body: RequestBody
  readonly depth: number
  readonly program: Program
  readonly isSocket: boolean
}

function toContext({ deps, limits, proto }: Parts, accepted: AcceptedRequest): RequestContext {
  const { request, connection, address, val, principal, body, program } = accepted
  const { method } = request
  const { host, pass } = address
  const target = toTarget(request.url)
  // The stored URL must not contain a pass.
  const url = pass === undefined ? request.url : `${program.endpoint}${target}`
  const headers = prepareRequestHeaders(
    accepted.headers,
    { address: connection.address(), proto, host },
    principal.hasHamletToken,
  )
  const run = deps.runs.open({
    id: deps.newId(),
    valId: val.id,
    version: val.version,
    accountId: val.ownerId,
    ownerId: val.ownerId,
    parentId: null,
    source: "http",
    depth: accepted.depth,
    startedAt: deps.now(),
    args: null,
    request: { method, url: url.slice(0, limits.urlCharsMax) },
    // A WebSocket cannot be replayed.
    input: accepted.isSocket
      ? null
      : toRunInput({ url, headers, body: body.storedCopy, pass }, limits),
  })
  const context: RequestContext = {
    request,
    headers: accepted.headers,
    connection,
    limits,
    run,
    responses: deps.responses,
    body,
    slotRequest: { method, host, target, headers, body: body.content, client: request },
    isIdleTimeoutDisabled: false,
    isOwner: isOwner(val, principal.caller),
    isByPass: pass !== undefined,
  }
  if (limits.headMsMax >= limits.idleSeconds * 1000) disableIdleTimeout(context)
  return context
}

/** Path and query. When the Host header is invalid, `request.url` is only a path. */
function toTarget(url: string): string {
  const start = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("://") + 3)
  if (start < 0) return "/"
  const end = url.indexOf("#", start)
  return end < 0 ? url.slice(start) : url.slice(start, end)
}

/**
 * The same response for a val that does not exist, that is private, or that is not of type http, so
 * that a client cannot tell them apart.
 */
function respondNotFound(
  { deps }: Parts,
  access: Resolved["access"],
  headers: HeaderRecord,
  trace: RequestTrace,
): Response {
  const message =
    access === "wrong type"
      ? "Cannot respond: your val is not of type http"
      : "Cannot respond: there is no val at this address"
  const requestId = recordRefusal(deps, trace, "val_not_found")
  return toErrorPage({ code: "val_not_found", message, requestId, hasRun: false }, headers.accept)
}

/** Counts a request that does not run the val. Returns the id under which it is logged. */
function recordRefusal(deps: GatewayDeps, trace: RequestTrace, code: ErrorCode): string {
  const requestId = deps.newId()
  trace.code = code
  trace.requestId = requestId
  deps.refusals.increment(code)
  return requestId
}

/** An `AppError` is sent to the client; any other error is a bug, whose details are only logged. */
function respondError(
  { deps, limits }: Parts,
  error: unknown,
  headers: HeaderRecord,
  request: Request,
  trace: RequestTrace,
): Response {
  // The client has disconnected before it had sent the whole body.
  if (request.signal.aborted) return new Response(null, { status: 400 })
  if (!(error instanceof AppError)) deps.onError(error)
  const { code, message } =
    error instanceof AppError
      ? error
      : { code: "internal" as const, message: "Cannot respond: an internal error occurred" }
  const retrySeconds = error instanceof RateLimited ? error.retryAfterSeconds : limits.retrySeconds
  const requestId = recordRefusal(deps, trace, code)
  return toErrorPage({ code, message, requestId, hasRun: false, retrySeconds }, headers.accept)
}
