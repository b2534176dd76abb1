import { headersOfResponse } from "../internals.ts"
import {
  RequestCtor,
  requestHeaders,
  responseText,
  setHeader,
  TypeErrorCtor,
} from "../primordials.ts"
import { blockedHeader, runHeader } from "../protocol.ts"
import { currentRun } from "../runs/runs.ts"

const realFetch = globalThis.fetch
const RealWebSocket = globalThis.WebSocket
const { NotCapable } = Deno.errors
const { construct, ownKeys, getOwnPropertyDescriptor, defineProperty } = Reflect

let mark = ""

/**
 * What a val sends out says from here on which run it is of; what the host does not let out becomes
 * an error that tells why. Requests of Workers and of EventSource have no mark: the host counts
 * them for the val, and for its run where there is only one.
 */
export function tagOutgoingRequests(hasProxy: boolean): void {
  replaceGlobal("fetch", hasProxy ? fetchInRun : fetchWithoutNetwork, realFetch)
  replaceGlobal("WebSocket", hasProxy ? WebSocketInRun : NoWebSocket, RealWebSocket)
}

/**
 * Where there is no proxy there is no network: Deno's own error would advise flags that a val
 * cannot set.
 */
const noNetwork =
  "Cannot reach the network: this server isolates vals by Deno's permissions alone, so that they have none, nor std/blob and std/sqlite; its operator can install bubblewrap"

/** Addresses that hold their content themselves, such as `data:`, need no network. */
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

/** With what it says that it is the guest who says which run. */
export function setEgressKey(key: string): void {
  mark = key
}

function replaceGlobal(name: string, replacement: object, real: object): void {
  // Its name, its length, and what else there is on it, such as the constants of WebSocket and its
  // prototype.
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
  const run = currentRun()
  if (run !== undefined) setHeader(requestHeaders(request), runHeader, `${mark} ${run.id}`)
  const response = await realFetch(request)
  if (isBlocked(response)) throw new TypeErrorCtor(await responseText(response))
  return response
}

function isBlocked(response: Response): boolean {
  const headers = headersOfResponse(response)
  for (let index = 0; index < headers.length; index += 1)
    if (headers[index]?.[0] === blockedHeader) return true
  return false
}

interface SocketOptions {
  readonly headers?: HeadersInit
}

/**
 * A function, and not a class that extends the real one: the sockets that Deno makes must be
 * instances of it too.
 */
function WebSocketInRun(
  url: string | URL,
  protocols?: string | string[] | SocketOptions,
): WebSocket {
  if (new.target === undefined)
    throw new TypeErrorCtor("Cannot call WebSocket: it is a class, use new")
  const run = currentRun()
  const options = run === undefined ? protocols : withMark(protocols, `${mark} ${run.id}`)
  return construct(RealWebSocket, [url, options], new.target)
}

const HeadersCtor = Headers

function withMark(protocols: string | string[] | SocketOptions | undefined, value: string): object {
  const isOptions = typeof protocols === "object" && protocols !== null && !Array.isArray(protocols)
  const given: SocketOptions = isOptions ? protocols : {}
  const headers = new HeadersCtor(given.headers)
  setHeader(headers, runHeader, value)
  return { ...(isOptions ? given : protocols === undefined ? {} : { protocols }), headers }
}
