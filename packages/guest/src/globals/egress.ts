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
