import { ownerHeader } from "@hamlet/contract"
import { depthHeader } from "@hamlet/sandbox"
import type { Caller } from "../../domain/access/caller.ts"
import { AppError } from "../../domain/app-error.ts"
import type { ApiConnection } from "../call.ts"
import type { Nouns } from "../nouns.ts"
import { readBody } from "../request/body.ts"
import { toQuery } from "../request/validate.ts"
import type { ApiResponse } from "../response/api-response.ts"

/** Sends a request to the API of this server, in this process. */
export type FetchApi = (request: Request, connection: ApiConnection) => Promise<Response>

/** A request to `/mcp` with a valid token. */
export interface McpCall {
  readonly request: Request
  readonly requestId: string
  readonly caller: Caller
  readonly connection: ApiConnection
}

/**
 * Responds to a message of an assistant. Every tool sends requests to the API with the token of the
 * assistant: the same validation, rules, limits and logs apply as to any other client.
 */
export async function respondToMcp(
  { api }: Nouns,
  fetchApi: FetchApi,
  { request, requestId, caller, connection }: McpCall,
): Promise<ApiResponse> {
  const { bodyBytesMax, bodyBudget, links, version, mcpPool } = api
  const { baseUrl } = links
  const { status, headers, body } = await mcpPool.respond(
    {
      body: await bodyBudget.run(request, caller.actorId, bodyBytesMax, () =>
        readBody(request, bodyBytesMax, caller.actorId),
      ),
      headers: Object.fromEntries(request.headers),
      caller,
      requestId,
      isReadOnly: isReadOnly(request),
      version,
      baseUrl,
    },
    toFetch(baseUrl, fetchApi, request, caller, connection),
    request.signal,
  )
  return { status, headers, body }
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

/** Requests to the API as the assistant: its token, its address, its depth in a chain of vals. */
function toFetch(
  baseUrl: string,
  fetchApi: FetchApi,
  { headers }: Request,
  { actorId, ownerId }: Caller,
  connection: ApiConnection,
): (path: string, init?: RequestInit) => Promise<Response> {
  const authorization = headers.get("authorization") ?? ""
  const depth = headers.get(depthHeader)
  return (path, init) => {
    const request = new Request(baseUrl + path, init)
    request.headers.set("authorization", authorization)
    if (depth !== null) request.headers.set(depthHeader, depth)
    if (ownerId !== actorId && !request.headers.has(ownerHeader))
      request.headers.set(ownerHeader, ownerId)
    return fetchApi(request, connection)
  }
}
