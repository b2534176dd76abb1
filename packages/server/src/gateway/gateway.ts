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
import { toRunInput } from "./request/kept-request.ts"
import { type RequestBody, readBody } from "./request/request-body.ts"
import { type HeaderRecord, prepareHeaders, readHeaders } from "./request/request-headers.ts"
import { UploadPlaces } from "./request/upload-places.ts"
import {
  finish,
  type RequestContext,
  respondRejected,
  respondStopped,
  unlimit,
} from "./request-context.ts"
import { Trace, toLogFields } from "./request-log.ts"
import { toErrorPage } from "./response/error-page.ts"
import { forwardResponse } from "./response/forward-response.ts"
import { isSocketRequest, openSocket } from "./sockets/open-socket.ts"
import { Sockets } from "./sockets/sockets.ts"
import { createValHosts, type ValAddress, type ValHosts } from "./val-hosts.ts"

/** The vals' own web addresses. */
export interface Gateway {
  /** Whether a request with that `Host` header is for the gateway rather than for the API. */
  isValHost(host: string): boolean
  /**
   * Answers a request to a val; undefined when the connection has become a WebSocket. Never
   * rejects.
   */
  fetch(request: Request, connection: GatewayConnection): Promise<Response | undefined>
  /**
   * The same for a request of this process, which says itself who comes: what the request says of
   * it is the val's own business.
   */
  fetchAs(request: Request, principal: KnownPrincipal): Promise<Response>
  /** Closes what is still open. */
  stop(): void
}

interface Parts {
  readonly deps: GatewayDeps
  readonly limits: GatewayLimits
  readonly hosts: ValHosts
  readonly findVal: FindVal
  readonly deadlines: Deadlines
  readonly sockets: Sockets
  readonly uploads: UploadPlaces
  readonly proto: string
  /** Whether an answer may begin later than an idle connection is closed. */
  readonly isSlowerThanIdle: boolean
}

/** Puts the gateway together. */
export function createGateway(deps: GatewayDeps): Gateway {
  const limits = { ...gatewayLimits, ...deps.limits }
  const deadlines = new Deadlines(limits.sweepMs)
  const sockets = new Sockets(limits, deadlines)
  const hosts = createValHosts(deps.valsDomain, deps.baseUrl, limits.hostsMax)
  const proto = deps.baseUrl.startsWith("https:") ? "https" : "http"
  const isSlowerThanIdle = limits.headMsMax >= limits.idleSeconds * 1000
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
    uploads: new UploadPlaces(limits),
    proto,
    isSlowerThanIdle,
  }
  // Whoever is in this process wants to see for themselves how an answer comes in: waiting for the
  // whole of it may take an hour.
  const inside = { ...parts, limits: { ...limits, wholeAnswerBytesMax: 0 } }
  return {
    isValHost: hosts.isValHost,
    fetch: (request, connection) => answerLogged(parts, request, connection),
    async fetchAs(request, { caller, address }) {
      const connection = { address, timeout() {}, upgrade: () => false }
      return (await answerLogged(inside, request, connection, caller)) ?? Response.error()
    },
    stop() {
      sockets.stop()
      deadlines.stop()
    },
  }
}

/**
 * The line is written when the answer begins: how long all of it took is in the record of the run.
 */
function answerLogged(
  parts: Parts,
  request: Request,
  connection: GatewayConnection,
  caller?: Principal["caller"],
): Promise<Response | undefined> {
  const { logRequest, hasAddressesInLog } = parts.deps
  const trace = new Trace()
  const answering = answer(parts, request, connection, trace, caller)
  if (!logRequest) return answering
  return answering.then((response) => {
    logRequest(
      toLogFields(
        request,
        hasAddressesInLog ? connection : undefined,
        trace,
        response?.status ?? 101,
      ),
    )
    return response
  })
}

/**
 * One function from the first look to the answer: every further one that waits would cost each
 * request a microsecond.
 */
async function answer(
  parts: Parts,
  request: Request,
  connection: GatewayConnection,
  trace: Trace,
  caller: Principal["caller"],
): Promise<Response | undefined> {
  const { deps, hosts, sockets, deadlines } = parts
  const known = readHeaders(request.headers)
  let body: RequestBody | undefined
  let context: RequestContext | undefined
  let slot: RunSlot | undefined
  try {
    const address = hosts.parse(known.host ?? "")
    // First of all, whether or not there is such a val: how long the answer takes must not tell.
    const sender =
      known.authorization === undefined ? anonymous : await identify(deps, known.authorization)
    const user = caller ?? sender.caller
    const val = address && (await parts.findVal(address, user?.userId))
    trace.address = address
    trace.user = user
    trace.val = val
    const principal =
      caller || address?.pass !== undefined ? { ...sender, caller: caller ?? ownerOf(val) } : sender
    const admission = authorize(val, principal)
    if (!address || !val || admission !== "yes") return refuse(deps, admission, known, trace)
    assertRunnable(val)
    assertMethod(request.method)
    const depth = readDepth(known[depthHeader])
    assertDepth(depth)
    deps.allowances.takeRun(val.ownerId)
    const takePlace = () => parts.uploads.take(val.id, connection.address())
    const reading = readBody(request, known, { limits: parts.limits, deadlines, takePlace })
    body = reading instanceof Promise ? await reading : reading
    const program = await deps.programs.of(val, val.ownerId)
    const isSocket = isSocketRequest(request.method, known)
    if (isSocket) sockets.assertRoom(val.id)
    context = toContext(parts, {
      request,
      known,
      connection,
      address,
      val,
      principal,
      body,
      depth,
      program,
      isSocket,
    })
    trace.runId = context.run.id
    try {
      slot = await deps.runner.acquire(program, context.run, request)
    } catch (error) {
      if (error instanceof AppError && !request.signal.aborted) noteRefusal(deps, trace, error.code)
      return respondRejected(context, error)
    }
    context.run.attach(slot)
    if (isSocket) return await openSocket(context, slot, sockets, val.id, deadlines)
    const outcome = await slot.fetch(context.slotRequest)
    if (outcome.kind === "stopped") return respondStopped(context, slot, outcome)
    const passing = forwardResponse(context, slot, outcome.response, deadlines)
    return passing instanceof Promise ? await passing : passing
  } catch (error) {
    // Whatever happened, no run is left open and no slot or place taken.
    body?.stop()
    if (context)
      finish(context, slot, {
        status: "crashed",
        error: { name: "Error", message: "The server made a mistake" },
      })
    return explain(parts, error, known, request, trace)
  }
}

function assertMethod(method: string): void {
  if (method === "CONNECT")
    throw new AppError("method_not_allowed", "Cannot CONNECT: vals are no proxies")
}

interface Arrival {
  readonly request: Request
  readonly known: HeaderRecord
  readonly connection: GatewayConnection
  readonly address: ValAddress
  readonly val: Val
  readonly principal: Principal
  readonly body: RequestBody
  readonly depth: number
  readonly program: Program
  readonly isSocket: boolean
}

function toContext(parts: Parts, arrival: Arrival): RequestContext {
  const { request, known, connection, address, val, principal, body, depth, program, isSocket } =
    arrival
  const { deps, limits, proto } = parts
  const { method } = request
  const { host, pass } = address
  const target = toTarget(request.url)
  // What is kept of a run is not to hold a key.
  const url = pass === undefined ? request.url : `${program.endpoint}${target}`
  const headers = prepareHeaders(
    known,
    { address: connection.address(), proto, host },
    principal.isForUs,
  )
  const run = deps.runs.open({
    id: deps.newId(),
    valId: val.id,
    version: val.version,
    accountId: val.ownerId,
    ownerId: val.ownerId,
    parentId: null,
    source: "http",
    depth,
    startedAt: deps.now(),
    args: null,
    request: {
      method,
      url: url.length <= limits.urlCharsMax ? url : url.slice(0, limits.urlCharsMax),
    },
    // A WebSocket is no request that could be sent again.
    input: isSocket ? null : toRunInput({ url, headers, body: body.kept, pass }, limits),
  })
  const slotRequest = { method, host, target, headers, body: body.content, client: request }
  const isByPass = pass !== undefined
  const context: RequestContext = {
    request,
    known,
    connection,
    limits,
    run,
    body,
    slotRequest,
    isUnlimited: false,
    isOwner: isOwner(val, principal.caller),
    isByPass,
  }
  if (parts.isSlowerThanIdle) unlimit(context)
  return context
}

/** Path and query. Without a host that is one, Bun gives nothing else. */
function toTarget(url: string): string {
  const start = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("://") + 3)
  if (start < 0) return "/"
  const end = url.indexOf("#", start)
  return end < 0 ? url.slice(start) : url.slice(start, end)
}

/**
 * One answer for vals that do not exist, that are private and that are not for the web: nobody can
 * tell one from the other.
 */
function refuse(
  deps: GatewayDeps,
  admission: "yes" | "no" | "wrong type",
  known: HeaderRecord,
  trace: Trace,
): Response {
  const message =
    admission === "wrong type"
      ? "Cannot answer: this val of yours is not of type http"
      : "Cannot answer: there is no val at this address"
  const requestId = noteRefusal(deps, trace, "val_not_found")
  return toErrorPage({ code: "val_not_found", message, requestId, hasRun: false }, known.accept)
}

/** The val does not run: counts why, and gives the id under which the log has it. */
function noteRefusal(deps: GatewayDeps, trace: Trace, code: ErrorCode): string {
  const requestId = deps.newId()
  trace.code = code
  trace.requestId = requestId
  deps.refusals.increment(code)
  return requestId
}

/**
 * An error we expect is told; anything else is a bug: the client sees that there was one, the log
 * sees the rest.
 */
function explain(
  { deps, limits }: Parts,
  error: unknown,
  known: HeaderRecord,
  request: Request,
  trace: Trace,
): Response {
  // Whoever sent half a body and left.
  if (request.signal.aborted) return new Response(null, { status: 400 })
  if (!(error instanceof AppError)) deps.onError(error)
  const { code, message } =
    error instanceof AppError
      ? error
      : {
          code: "internal" as const,
          message: "Cannot answer: the server made a mistake, which was logged",
        }
  const retrySeconds = error instanceof RateLimited ? error.retryAfterSeconds : limits.retrySeconds
  const requestId = noteRefusal(deps, trace, code)
  return toErrorPage({ code, message, requestId, hasRun: false, retrySeconds }, known.accept)
}
