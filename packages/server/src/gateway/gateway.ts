import type { ErrorCode } from "@hamlet/contract"
import { parseTraceparent, runWork, startRequest, toFailure, Watchdog } from "@hamlet/kit"
import { depthHeader, type Program, type RunSlot } from "@hamlet/sandbox"
import { rightsOn } from "../domain/access/rights.ts"
import { AppError } from "../domain/app-error.ts"
import { assertDepth, readDepth } from "../domain/egress.ts"
import { openPass } from "../domain/requests/preview-pass.ts"
import { assertRunnable } from "../domain/runs/execute-run.ts"
import type { Val } from "../domain/vals/vals.ts"
import { toClientKey } from "../shared/system/client-key.ts"
import type { GatewayConnection, GatewayDeps } from "./deps.ts"
import { createFindVal, type FindVal } from "./find-val.ts"
import { type GatewayLimits, gatewayLimits } from "./limits.ts"
import { createPageConsole, type PageConsole } from "./page-console/page-console.ts"
import { mayHaveBody, noBody, type RequestBody, readRequestBody } from "./request/request-body.ts"
import {
  type HeaderRecord,
  prepareRequestHeaders,
  readHeaders,
  withTraceparent,
} from "./request/request-headers.ts"
import { toRunInput } from "./request/run-input.ts"
import { UploadLimiter } from "./request/upload-limiter.ts"
import {
  disableIdleTimeout,
  finish,
  type RequestContext,
  respondRejected,
  respondStopped,
} from "./request-context.ts"
import { describeSpan, RequestTrace, toLogFields } from "./request-log.ts"
import { toErrorPage } from "./response/error-page.ts"
import { forwardResponse } from "./response/forward-response.ts"
import {
  anonymous,
  authorize,
  type GatewaySender,
  identify,
  type KnownSender,
  ownerOf,
} from "./sender.ts"
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
   * Responds to a request from this process, which names the sender. The `Authorization` header
   * does not identify the sender and is meant for the val.
   */
  fetchAs(request: Request, sender: KnownSender): Promise<Response>
  /** Closes open WebSockets. */
  stop(): void
}

interface Parts {
  readonly deps: GatewayDeps
  readonly limits: GatewayLimits
  readonly hosts: ValHosts
  readonly findVal: FindVal
  readonly deadlines: Watchdog
  readonly sockets: Sockets
  readonly uploads: UploadLimiter
  readonly proto: string
  readonly pageConsole: PageConsole
}

/** Creates the gateway. */
export function createGateway(deps: GatewayDeps): Gateway {
  const limits = { ...gatewayLimits, ...deps.limits }
  const deadlines = new Watchdog(limits.sweepMs)
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
    pageConsole: createPageConsole(deps),
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
  caller?: GatewaySender["caller"],
): Promise<Response | undefined> {
  const { logRequest, hasAddressesInLog, slowRequests, tracer, newId } = parts.deps
  const serving = parts.pageConsole.serve(request.method, toTarget(request.url))
  const served = serving && (await serving)
  if (served) return served
  const trace = new RequestTrace(newId())
  if (tracer) {
    const { headers } = request
    const parent = parseTraceparent(headers.get("traceparent"), headers.get("tracestate"))
    trace.span = startRequest(tracer, "val request", parent, trace.id)
  }
  const work = () => respond(parts, request, connection, trace, caller)
  const response = await (trace.span ? runWork(trace, work) : work())
  const status = response?.status ?? 101
  const logged = hasAddressesInLog ? connection : undefined
  logRequest?.(toLogFields(request, logged, trace, status))
  if (performance.now() - trace.startedMs >= slowRequests.msMin)
    slowRequests.note({ ...toLogFields(request, logged, trace, status), ...trace.explain() })
  trace.span?.end(describeSpan(request, trace, status), toFailure(status))
  return response
}

async function respond(
  parts: Parts,
  request: Request,
  connection: GatewayConnection,
  trace: RequestTrace,
  caller: GatewaySender["caller"],
): Promise<Response | undefined> {
  const headers = readHeaders(request.headers)
  let body: RequestBody | undefined
  let context: RequestContext | undefined
  let slot: RunSlot | undefined
  let releaseSocket: (() => void) | undefined
  try {
    const { deadlines, sockets, deps } = parts
    const address = parts.hosts.parse(headers.host ?? "")
    // The token is checked before the val is looked up: otherwise the response time would reveal
    // whether a private val exists.
    const identified =
      headers.authorization === undefined ? anonymous : await identify(deps, headers.authorization)
    const user = caller ?? identified.caller
    const val = address && (await parts.findVal(address, user))
    trace.address = address
    trace.user = user
    trace.val = val
    trace.mark("lookupMs")
    const sender = toSender(identified, caller, address, val)
    const access = authorize(val, sender)
    if (!address || !val || access !== "yes") return respondNotFound(parts, access, headers, trace)
    const depth = assertMayRun(parts, request.method, headers, val)
    const counted = deps.allowances.takeRun(val.ownerId)
    if (counted !== undefined) await counted
    body = mayHaveBody(request.method)
      ? await readBody(parts, request, headers, val, connection, trace)
      : noBody
    const program = await deps.programs.of(val, val.ownerId)
    trace.mark("lookupMs")
    const isSocket = isSocketRequest(request.method, headers)
    if (isSocket) releaseSocket = sockets.reserve(val.ownerId, val.id)
    const recognised = parts.pageConsole.recognise(request.method, headers)
    const framed = recognised && (await recognised)
    const about = {
      request,
      headers: framed?.headers ?? headers,
      script: framed?.tag,
      connection,
      address,
      val,
      sender,
      body,
      depth,
      program,
    }
    context = toContext(parts, about, releaseSocket, trace)
    trace.run = context.run
    try {
      slot = await deps.runner.acquire(program, context.run, request)
    } catch (error) {
      if (error instanceof AppError && !request.signal.aborted)
        recordRefusal(deps, trace, error.code)
      return respondRejected(context, error)
    }
    context.run.attach(slot)
    trace.sinceMs = performance.now()
    if (isSocket) return await openSocket(context, slot, sockets, deadlines)
    const outcome = await slot.fetch(context.slotRequest)
    trace.mark("valMs")
    if (outcome.kind === "stopped") return respondStopped(context, slot, outcome)
    const forwarded = forwardResponse(context, slot, outcome.response, deadlines)
    // Most responses are complete, and to await one takes as long as to forward it.
    return forwarded instanceof Promise ? await forwarded : forwarded
  } catch (error) {
    // On any error, the run ends, and its slot, its upload and its WebSocket are released.
    body?.stop()
    releaseSocket?.()
    if (context)
      finish(context, slot, {
        status: "crashed",
        error: { name: "Error", message: "An internal error of the server ended the run" },
      })
    return respondError(parts, error, headers, request, trace)
  }
}

/** The sender with the rights that the request gives it beside its token. */
function toSender(
  identified: GatewaySender,
  caller: GatewaySender["caller"],
  address: ValAddress | undefined,
  val: Val | undefined,
): GatewaySender {
  return caller || address?.pass !== undefined
    ? { ...identified, caller: caller ?? ownerOf(val) }
    : identified
}

async function readBody(
  { limits, deadlines, uploads }: Parts,
  request: Request,
  headers: HeaderRecord,
  val: Val,
  connection: GatewayConnection,
  trace: RequestTrace,
): Promise<RequestBody> {
  const sender = toClientKey(connection.address())
  const acquireUpload = () => uploads.acquire(val.id, sender)
  const body = await readRequestBody(request, headers, { limits, deadlines, sender, acquireUpload })
  trace.mark("clientMs")
  return body
}

/** Returns how many vals have called each other before. */
function assertMayRun({ deps }: Parts, method: string, headers: HeaderRecord, val: Val): number {
  deps.schema.assertKnown()
  assertRunnable(val)
  if (method === "CONNECT")
    throw new AppError("method_not_allowed", "Cannot CONNECT: a val is not a proxy")
  const depth = readDepth(headers[depthHeader])
  assertDepth(depth)
  return depth
}

interface AcceptedRequest {
  readonly request: Request
  readonly headers: HeaderRecord
  readonly script: Uint8Array | undefined
  readonly connection: GatewayConnection
  readonly address: ValAddress
  readonly val: Val
  readonly sender: GatewaySender
  readonly body: RequestBody
  readonly depth: number
  readonly program: Program
}

function toContext(
  { deps, limits, proto }: Parts,
  accepted: AcceptedRequest,
  /** Set for a WebSocket. */
  releaseSocket: (() => void) | undefined,
  trace: RequestTrace,
): RequestContext {
  const { request, connection, address, val, sender, body, program, script } = accepted
  const { method } = request
  const { host, pass } = address
  const target = toTarget(request.url)
  // The stored URL must not contain a pass.
  const url = pass === undefined ? request.url : `${program.endpoint}${target}`
  const headers = prepareRequestHeaders(
    accepted.headers,
    { address: connection.address(), proto, host },
    sender.hasHamletToken,
  )
  const run = deps.liveRuns.open({
    id: trace.id,
    valId: val.id,
    file: val.file,
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
    input: releaseSocket ? null : toRunInput({ url, headers, body: body.storedCopy, pass }, limits),
    work: trace,
  })
  const { span } = run
  const context: RequestContext = {
    request,
    headers: accepted.headers,
    connection,
    limits,
    run,
    responses: deps.responses,
    body,
    releaseSocket,
    slotRequest: {
      method,
      host,
      target,
      headers: span ? withTraceparent(headers, span) : headers,
      body: body.content,
      client: request,
    },
    isIdleTimeoutDisabled: false,
    isOwner: rightsOn(val, sender.caller).inspect,
    isByPass: pass !== undefined,
    scriptTag: script,
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
 * Responds alike for a val that does not exist, that is private, or that is not of type http, so
 * that a client cannot tell them apart.
 */
function respondNotFound(
  { deps }: Parts,
  access: ReturnType<typeof authorize>,
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
  trace.code = code
  deps.refusals.increment(code)
  return trace.id
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
  const known = error instanceof AppError ? error.retryAfterSeconds : undefined
  const retrySeconds = known ?? limits.retrySeconds
  const requestId = recordRefusal(deps, trace, code)
  return toErrorPage({ code, message, requestId, hasRun: false, retrySeconds }, headers.accept)
}
