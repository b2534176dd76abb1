import { type InnerRequest, innerRequestOf } from "../internals.ts"
import { ResponseCtor, stringIndexOf, stringSlice, stringStartsWith } from "../primordials.ts"
import { clearRunContext } from "../runs/runs.ts"
import type { Serving } from "../val/program.ts"
import { handleCall } from "./handle-call.ts"
import { handleRequest } from "./handle-request.ts"

let serving: Serving | undefined
let hasVisitors = false
const whenServing = Promise.withResolvers<Serving>()

/** From here on runs are answered; those that came before have waited. */
export function startServing(what: Serving): void {
  serving = what
  whenServing.resolve(what)
}

/** Whether a request has come before the val. */
export function hasWaitingRequest(): boolean {
  return hasVisitors
}

/** Answers with something else for a while, before there is a val. */
export function serveTemporarily(what: Serving | undefined): void {
  serving = what
}

/** The beginning of a request's URL when it came over a Unix socket. */
const unixScheme = "http+unix://"
/**
 * Of a call: no val has this host, so that no request to one can be taken for a call, whatever its
 * path is.
 */
const callBeginning = `${unixScheme}call/c`

/** Answers what the host sends to in.sock. */
export function serve(request: Request): Response | Promise<Response> {
  clearRunContext()
  const inner = innerRequestOf(request)
  const url = rawUrlOf(inner)
  const kindAt = stringIndexOf(url, "/", unixScheme.length) + 1
  const idEnd = stringIndexOf(url, "/", kindAt)
  const id = idEnd === -1 ? stringSlice(url, kindAt + 1) : stringSlice(url, kindAt + 1, idEnd)
  const isCall = stringStartsWith(url, callBeginning)
  if (!isCall && (url[kindAt] !== "h" || idEnd === -1))
    return new ResponseCtor(null, { status: 400 })
  if (serving === undefined) return serveLater(request, inner, id, !isCall)
  if (isCall) return handleCall(serving, request, id)
  return handleRequest(serving.program, request, id, inner.header("upgrade") !== null)
}

async function serveLater(
  request: Request,
  inner: InnerRequest,
  id: string,
  isRequest: boolean,
): Promise<Response> {
  const isUpgrade = inner.header("upgrade") !== null
  hasVisitors ||= isRequest
  const now = await whenServing.promise
  return isRequest
    ? handleRequest(now.program, request, id, isUpgrade)
    : handleCall(now, request, id)
}

let rawUrlOf: (inner: InnerRequest) => string = (inner) => inner.url()

/**
 * From here on the `url` of every request is the public one, also that of its copies: it is changed
 * where they all take it from. Defining it on each Request would cost every request something, and
 * miss the copies.
 */
export function publishUrls(request: Request): void {
  const prototype: InnerRequest = Object.getPrototypeOf(innerRequestOf(request))
  const { url } = prototype
  const read = Function.prototype.call.bind(url) as (inner: InnerRequest) => string
  rawUrlOf = read
  prototype.url = function (this: InnerRequest) {
    return toPublicUrl(read(this), serving?.scheme ?? "http")
  }
}

/** `https://ada-hello.example.com/x?y` of `http+unix://ada-hello.example.com/h{runId}/x?y`. */
function toPublicUrl(url: string, scheme: string): string {
  if (!stringStartsWith(url, unixScheme)) return url
  const hostEnd = stringIndexOf(url, "/", unixScheme.length)
  const pathAt = stringIndexOf(url, "/", hostEnd + 1)
  const host = stringSlice(url, unixScheme.length, hostEnd)
  return `${scheme}://${host}${pathAt === -1 ? "/" : stringSlice(url, pathAt)}`
}
