import { headersOfResponse } from "../internals.ts"
import {
  arraySplice,
  isRequestBodyUsed,
  RequestCtor,
  requestHeaders,
  requestUrl,
  responseText,
  setHeader,
  stringIndexOf,
  stringSlice,
  stringStartsWith,
  TypeErrorCtor,
} from "../primordials.ts"
import { blockedHeader, runHeader } from "../protocol.ts"
import { currentRun } from "../runs/runs.ts"
import { triesMax, untilNextTry } from "../sockets/closed-socket.ts"

const realFetch = globalThis.fetch
const RealWebSocket = globalThis.WebSocket
const { NotCapable } = Deno.errors
const { construct, ownKeys, getOwnPropertyDescriptor, defineProperty } = Reflect

let egressKey = ""

/**
 * From here on, requests of the val carry the id of their run, and requests that the host blocks
 * fail with its reason. Requests of Workers and EventSource are not tagged: the host attributes
 * them to the val, and to its run if there is only one.
 */
export function tagOutgoingRequests(hasProxy: boolean): void {
  replaceGlobal("fetch", hasProxy ? fetchInRun : fetchWithoutNetwork, realFetch)
  replaceGlobal("WebSocket", hasProxy ? WebSocketInRun : NoWebSocket, RealWebSocket)
}

/**
 * Without a proxy there is no network. Deno's own error would advise flags that a val cannot set.
 */
const noNetwork =
  "Cannot reach the network: this server isolates vals with Deno's permissions only, so vals have no network, std/blob or std/sqlite; its operator can install bubblewrap"

/** URLs that contain their content, such as `data:`, need no network. */
async function fetchWithoutNetwork(
  input: RequestInfo | URL,
  init?: RequestInit,
): Promise<Response> {
  try {
    return await realFetch(input, init)
  } catch (error) {
    throw error instanceof NotCapable ? new TypeErrorCtor(noNetwork) : error
  }
}

function NoWebSocket(): never {
  throw new TypeErrorCtor(noNetwork)
}

/** Sets the key that proves to the host that the guest has tagged a request. */
export function setEgressKey(key: string): void {
  egressKey = key
}

/** Names the current run to the host, together with the key; empty without a run. */
export function runTag(): string {
  const run = currentRun()
  return run === undefined ? "" : `${egressKey} ${run.id}`
}

function replaceGlobal(name: string, replacement: object, real: object): void {
  // Copies its name, length and other properties, such as the constants and the prototype of
  // WebSocket.
  for (const key of ownKeys(real))
    defineProperty(replacement, key, getOwnPropertyDescriptor(real, key) as PropertyDescriptor)
  Object.defineProperty(globalThis, name, {
    value: replacement,
    writable: true,
    configurable: true,
    enumerable: false,
  })
}

async function fetchInRun(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const request = new RequestCtor(input, init)
  const tag = runTag()
  if (tag !== "") setHeader(requestHeaders(request), runHeader, tag)
  // A client of the val's own may connect to anything in its folder.
  const isOwnClient = (init as { readonly client?: unknown } | undefined)?.client !== undefined
  const response = await (isOwnClient ? realFetch(request) : send(request))
  if (isBlocked(response)) throw new TypeErrorCtor(await responseText(response))
  return response
}

/** The host responds to every request that it reads. Otherwise it has accepted no connection. */
async function send(request: Request): Promise<Response> {
  for (let tries = 1; ; tries += 1)
    try {
      return await realFetch(request)
    } catch (error) {
      const reason = (error as { readonly cause?: { readonly message?: unknown } }).cause?.message
      if (typeof reason !== "string" || !isConnectionFailure(reason)) throw error
      const isUnsent = stringIndexOf(reason, notConnected) !== -1 && !isRequestBodyUsed(request)
      if (!isUnsent || tries === triesMax)
        throw new TypeErrorCtor(
          `Cannot fetch "${showUrl(requestUrl(request))}": the val, or its account, has too many connections open, or opens too many at once`,
        )
      await untilNextTry()
    }
}

const notConnected = "client error (Connect)"

/** How Deno names the failures of its connection to the host. */
function isConnectionFailure(reason: string): boolean {
  return (
    stringIndexOf(reason, notConnected) !== -1 ||
    stringIndexOf(reason, "connection closed before message completed") !== -1 ||
    stringStartsWith(reason, "Connection reset by peer") ||
    stringStartsWith(reason, "Broken pipe")
  )
}

const urlCharsMax = 200

/** Without the query, as the host shows it. */
function showUrl(url: string): string {
  const query = stringIndexOf(url, "?")
  const shown = query === -1 ? url : stringSlice(url, 0, query)
  return shown.length <= urlCharsMax ? shown : `${stringSlice(shown, 0, urlCharsMax - 1)}…`
}

/**
 * Whether the host has blocked a request. Removes what the host has added about its connection,
 * which is none of the val's.
 */
function isBlocked(response: Response): boolean {
  const headers = headersOfResponse(response)
  for (let index = 0; index < headers.length; index += 1) {
    const name = headers[index]?.[0]
    if (name === blockedHeader) return true
    if (name === "connection") arraySplice(headers, index, 1)
  }
  return false
}

interface SocketOptions {
  readonly headers?: HeadersInit
}

/** A function rather than a subclass: the sockets that Deno creates must be instances of it too. */
function WebSocketInRun(
  url: string | URL,
  protocols?: string | string[] | SocketOptions,
): WebSocket {
  if (new.target === undefined)
    throw new TypeErrorCtor("Cannot call WebSocket: it is a class, use new")
  const tag = runTag()
  const options = tag === "" ? protocols : withRunHeader(protocols, tag)
  return construct(RealWebSocket, [url, options], new.target)
}

const HeadersCtor = Headers

function withRunHeader(
  protocols: string | string[] | SocketOptions | undefined,
  value: string,
): object {
  const isOptions = typeof protocols === "object" && protocols !== null && !Array.isArray(protocols)
  const given: SocketOptions = isOptions ? protocols : {}
  const headers = new HeadersCtor(given.headers)
  setHeader(headers, runHeader, value)
  return { ...(isOptions ? given : protocols === undefined ? {} : { protocols }), headers }
}
