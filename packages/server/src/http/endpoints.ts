import { errorCodes } from "@hamlet/contract"
import { type Caller, unauthenticated } from "../domain/access/caller.ts"
import { AppError } from "../domain/app-error.ts"
import { mcpPaths } from "../domain/oauth/oauth.ts"
import type { Authenticator } from "./auth/authenticate.ts"
import type { ApiConnection, Endpoint, EndpointRequest } from "./call.ts"
import { assertOriginAllowed, type FetchApi, respondToMcp } from "./mcp/mcp-endpoint.ts"
import type { Nouns } from "./nouns.ts"
import { createOAuthEndpoints, toResourceMetadataUrl } from "./oauth/oauth-endpoints.ts"
import { findDocText } from "./pages/doc-texts.ts"
import { toErrorResponse } from "./response/error-response.ts"

/** Creates the endpoints; the result finds one by its path. */
export function createEndpoints(
  nouns: Nouns,
  authenticator: Authenticator,
  fetchApi: FetchApi,
): (path: string) => Endpoint | undefined {
  const endpoints = mapEndpoints(nouns, authenticator, fetchApi)
  return (path) => endpoints.get(path) ?? findDocText(nouns.api, path)
}

/** The endpoints that take input, by path. */
export function mapEndpoints(
  nouns: Nouns,
  authenticator: Authenticator,
  fetchApi: FetchApi,
): ReadonlyMap<string, Endpoint> {
  return new Map<string, Endpoint>([
    ...mcpPaths.map((path) => [path, mcpEndpoint(nouns, authenticator, fetchApi)] as const),
    ...createOAuthEndpoints(nouns, async (connection) => {
      const rateKey = toRateKey(connection)
      await authenticator.countByAddress(() => rateKey)
      return rateKey
    }),
  ])
}

function mcpEndpoint(nouns: Nouns, authenticator: Authenticator, fetchApi: FetchApi): Endpoint {
  return {
    methods: ["OPTIONS", "POST"],
    async respond(context) {
      const { request, requestId, connection } = context
      assertOriginAllowed(nouns.api.links.baseUrl, request)
      try {
        const caller = await identify(authenticator, context)
        context.caller = caller
        return await respondToMcp(nouns, fetchApi, { request, requestId, caller, connection })
      } catch (error) {
        if (!(error instanceof AppError) || errorCodes[error.code].status !== 401) throw error
        const response = toErrorResponse(error, requestId)
        // An assistant that has no token learns from this how to ask the user for one.
        const challenge = `Bearer resource_metadata="${toResourceMetadataUrl(nouns.api.links.baseUrl, context.path)}"`
        return { ...response, headers: { ...response.headers, "www-authenticate": challenge } }
      }
    },
  }
}

async function identify(
  authenticator: Authenticator,
  { request, connection }: EndpointRequest,
): Promise<Caller> {
  // A session belongs to the pages of this server, not to an assistant in the same browser.
  if (request.headers.get("authorization") === null) {
    await authenticator.countByAddress(() => toRateKey(connection))
    throw unauthenticated()
  }
  const { caller } = await authenticator.identify(request, () => toRateKey(connection))
  if (!caller) throw unauthenticated()
  return caller
}

function toRateKey(connection: ApiConnection): string {
  return connection.rateKey ?? connection.address?.() ?? ""
}
