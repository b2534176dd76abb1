import { type Caller, unauthenticated } from "../domain/access.ts"
import type { ApiConnection } from "./api-connection.ts"
import type { Authenticator } from "./auth/authenticate.ts"
import { assertOriginAllowed, type FetchApi, respondToMcp } from "./mcp/mcp-endpoint.ts"
import type { Nouns } from "./nouns.ts"
import { findDocText } from "./pages/doc-texts.ts"
import type { ApiResponse } from "./response/api-response.ts"

/** A request to an endpoint. */
export interface EndpointRequest {
  readonly request: Request
  readonly requestId: string
  readonly path: string
  readonly connection: ApiConnection
  /** Set after authentication. */
  caller: Caller | undefined
}

/**
 * A path that is not in the route table, because its errors, bodies and responses are those of
 * another protocol, or because it is text for people and models.
 */
export interface Endpoint {
  readonly methods: readonly string[]
  respond(context: EndpointRequest): Promise<ApiResponse>
}

/** Creates the endpoints; the result finds one by its path. */
export function createEndpoints(
  nouns: Nouns,
  authenticator: Authenticator,
  fetchApi: FetchApi,
): (path: string) => Endpoint | undefined {
  const endpoints = new Map<string, Endpoint>([
    ["/mcp", mcpEndpoint(nouns, authenticator, fetchApi)],
  ])
  return (path) => endpoints.get(path) ?? findDocText(nouns.api, path)
}

function mcpEndpoint(nouns: Nouns, authenticator: Authenticator, fetchApi: FetchApi): Endpoint {
  return {
    methods: ["OPTIONS", "POST"],
    async respond(context) {
      const { request, requestId, connection } = context
      assertOriginAllowed(nouns.api.links.baseUrl, request)
      const rateKey = () => connection.rateKey ?? connection.address?.() ?? ""
      // A session belongs to the pages of this server, not to an assistant in the same browser.
      if (request.headers.get("authorization") === null) {
        authenticator.countByAddress(rateKey)
        throw unauthenticated()
      }
      const { caller } = await authenticator.identify(request, rateKey)
      if (!caller) throw unauthenticated()
      context.caller = caller
      return respondToMcp(nouns, fetchApi, { request, requestId, caller, connection })
    },
  }
}
