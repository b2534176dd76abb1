import { type InnerRequest, innerRequestOf } from "../internals.ts"
import {
  ResponseCtor,
  stringIndexOf,
  stringSlice,
  stringStartsWith,
  uncurryThis,
} from "../primordials.ts"
import { clearRunContext } from "../runs/runs.ts"
import type { Serving } from "../val/program.ts"
import { handleCall } from "./handle-call.ts"
import { handleRequest } from "./handle-request.ts"
import { finishUpgrade } from "./upgrades.ts"

const { getPrototypeOf } = Object
let serving: Serving | undefined
let hasEarlyRequest = false
const whenServing = Promise.withResolvers<Serving>()

/** Starts serving runs; requests that came earlier have waited. */
export function startServing(what: Serving): void {
  serving = what
  whenServing.resolve(what)
}

/** Whether a request arrived before the val was loaded. */
export function hasWaitingRequest(): boolean {
  return hasEarlyRequest
}

/** Serves something else for a while, before there is a val. */
export function serveTemporarily(what: Serving | undefined): void {
  serving = what
}

/** The start of the URL of a request over a Unix socket. */
const unixScheme = "http+unix://"
/**
 * The start of the URL of a call, and of a call with an email. No val has this host, so no request
 * to a val can be taken for a call, whatever its path.
 */
const callBeginning = `${unixScheme}call/c`
const emailBeginning = `${unixScheme}call/m`

/** Handles requests of the host to in.sock. */
export function serve(request: Request): Response | Promise<Response> {
  clearRunContext()
  const inner = innerRequestOf(request)
  const url = (readUrl ?? publishUrls(inner))(inner)
  const kindAt = stringIndexOf(url, "/", unixScheme.length) + 1
  const idEnd = stringIndexOf(url, "/", kindAt)
  const id = idEnd === -1 ? stringSlice(url, kindAt + 1) : stringSlice(url, kindAt + 1, idEnd)
  const isEmail = stringStartsWith(url, emailBeginning)
  const isCall = isEmail || stringStartsWith(url, callBeginning)
  if (!isCall && (url[kindAt] !== "h" || idEnd === -1))
    return new ResponseCtor(null, { status: 400 })
  if (serving === undefined) return serveLater(request, inner, id, { isCall, isEmail })
  if (isCall) return handleCall(serving, request, id, isEmail)
  return respond(serving, request, id, inner.header("upgrade") !== null)
}

function respond(
  { program }: Serving,
  request: Request,
  id: string,
  isUpgrade: boolean,
): Response | Promise<Response> {
  const response = handleRequest(program, request, id, isUpgrade)
  return isUpgrade ? finishUpgrade(request, response) : response
}

async function serveLater(
  request: Request,
  inner: InnerRequest,
  id: string,
  { isCall, isEmail }: { readonly isCall: boolean; readonly isEmail: boolean },
): Promise<Response> {
  const isUpgrade = inner.header("upgrade") !== null
  hasEarlyRequest ||= !isCall
  const now = await whenServing.promise
  return isCall ? handleCall(now, request, id, isEmail) : await respond(now, request, id, isUpgrade)
}

type ReadUrl = (inner: InnerRequest) => string

/** Reads the URL that the host has sent. Undefined until the first request. */
let readUrl: ReadUrl | undefined

/**
 * From the first request on, the `url` of every request is the public one, also in its copies,
 * because it is changed on their shared prototype. Defining it on each Request would be slower, and
 * miss the copies. A val that is loaded already has not seen that prototype yet.
 */
function publishUrls(inner: InnerRequest): ReadUrl {
  const prototype: InnerRequest = getPrototypeOf(inner)
  const read = uncurryThis(prototype.url) as ReadUrl
  readUrl = read
  prototype.url = function (this: InnerRequest) {
    return toPublicUrl(read(this), serving?.scheme ?? "http")
  }
  return read
}

/**
 * Converts `http+unix://ada-hello.example.com/h{runId}/x?y` to `https://ada-hello.example.com/x?y`.
 */
function toPublicUrl(url: string, scheme: string): string {
  if (!stringStartsWith(url, unixScheme)) return url
  const hostEnd = stringIndexOf(url, "/", unixScheme.length)
  const pathAt = stringIndexOf(url, "/", hostEnd + 1)
  const host = stringSlice(url, unixScheme.length, hostEnd)
  return `${scheme}://${host}${pathAt === -1 ? "/" : stringSlice(url, pathAt)}`
}
