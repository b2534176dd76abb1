import { createClient } from "@hamlet/contract/client"
import type { Caller } from "../../domain/access.ts"
import { AppError } from "../../domain/app-error.ts"
import { depthHeader } from "../../domain/egress.ts"
import type { ApiConnection } from "../api-connection.ts"
import type { Nouns } from "../nouns.ts"
import { readBody } from "../request/body.ts"
import { toQuery } from "../request/validate.ts"
import { type ApiResponse, json } from "../response/api-response.ts"

/** Sends a request to the API of this server, in this process. */
export type FetchApi = (request: Request, connection: ApiConnection) => Promise<Response>

/** A request to `/mcp` with a valid token. */
export interface McpCall {
  readonly request: Request
  readonly requestId: string
  readonly caller: Caller
  readonly connection: ApiConnection
}

/** JSON-RPC: the body is not JSON, or not one message. */
const parseError = -32_700
const invalidRequest = -32_600

/** Runs can take long, and their own limit ends them. */
const timeoutMs = 86_400_000

/**
 * Responds to a message of an assistant. Every tool sends requests to the API with the token of the
 * assistant: the same validation, rules, limits and logs apply as to any other client.
 */
export async function respondToMcp(
  { api }: Nouns,
  fetchApi: FetchApi,
  { request, requestId, caller, connection }: McpCall,
): Promise<ApiResponse> {
  const message = parseMessage(await readBody(request, api.bodyBytesMax))
  if (!message.isValid) return toRpcError(message.code, message.reason)
  const { baseUrl } = api.links
  const fetch = toFetch(baseUrl, fetchApi, request, connection)
  // The library is large, and most servers never need it.
  const { handleMessage } = await import("./mcp-server.ts")
  const response = await handleMessage(
    {
      client: createClient({
        baseUrl,
        retriesMax: 0,
        timeoutMs,
        fetch: (url, init) => fetch(url.slice(baseUrl.length), init),
      }),
      fetch,
      username: caller.username,
      docs: api.docs,
      caller,
      requestId,
      isReadOnly: isReadOnly(request),
      version: api.version,
      baseUrl,
      log: api.log,
    },
    request,
    message.value,
  )
  return toApiResponse(response)
}

/**
 * Browsers name the page that sends a request. One whose host name was pointed at this server keeps
 * its own name, so it is refused; programs send no origin.
 */
export function assertOriginAllowed(baseUrl: string, request: Request): void {
  const origin = request.headers.get("origin")
  if (origin === null || origin === new URL(baseUrl).origin) return
  throw new AppError(
    "cross_site_request",
    "Cannot use /mcp from a page of another site: connect with a program, or through the server of that site",
  )
}

/** `/mcp?readonly`, or the header that other servers use for the same. */
function isReadOnly(request: Request): boolean {
  const { readonly = request.headers.get("x-mcp-readonly") ?? "false" } = toQuery(request.url)
  return !/^(?:false|0|no)$/i.test([readonly].flat().at(-1) ?? "")
}

type Message =
  | { readonly isValid: true; readonly value: object }
  | { readonly isValid: false; readonly code: number; readonly reason: string }

function parseMessage(bytes: Uint8Array): Message {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes))
  } catch {
    return { isValid: false, code: parseError, reason: "The body is not valid JSON" }
  }
  // Revisions since June 2025 have no batches; one request could start any number of runs.
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? { isValid: true, value }
    : { isValid: false, code: invalidRequest, reason: "The body must be one JSON-RPC message" }
}

function toRpcError(code: number, message: string): ApiResponse {
  return json(400, { jsonrpc: "2.0", error: { code, message }, id: null })
}

/** Requests to the API as the assistant: its token, its address, its depth in a chain of vals. */
function toFetch(
  baseUrl: string,
  fetchApi: FetchApi,
  { headers }: Request,
  connection: ApiConnection,
): (path: string, init?: RequestInit) => Promise<Response> {
  const authorization = headers.get("authorization") ?? ""
  const depth = headers.get(depthHeader)
  return (path, init) => {
    const request = new Request(baseUrl + path, init)
    request.headers.set("authorization", authorization)
    if (depth !== null) request.headers.set(depthHeader, depth)
    return fetchApi(request, connection)
  }
}

function toApiResponse({ status, headers, body }: Response): ApiResponse {
  return {
    status,
    headers: Object.fromEntries(headers),
    body: null,
    ...(body === null ? {} : { stream: body }),
  }
}
