import { parseJson } from "@hamlet/kit"
import { deviceGrant } from "../../domain/oauth/client-tokens.ts"
import {
  grantableScopes,
  mcpPaths,
  OAuthRefusal,
  publicScopes,
  type TokenRequest,
} from "../../domain/oauth/oauth.ts"
import type { ApiConnection, Endpoint } from "../call.ts"
import type { Nouns } from "../nouns.ts"
import { readBody } from "../request/body.ts"
import { type ApiResponse, json } from "../response/api-response.ts"

const limits = {
  bodyBytesMax: 65_536,
}

const resourceMetadata = "/.well-known/oauth-protected-resource"

/**
 * The endpoints that clients of OAuth call, by path. `count` counts a request against the limit for
 * requests without a token, and returns its key.
 */
export function createOAuthEndpoints(
  { oauthClients, clientTokens, devices, api }: Nouns,
  count: (connection: ApiConnection) => Promise<string>,
): readonly (readonly [path: string, endpoint: Endpoint])[] {
  const { baseUrl } = api.links
  const { registrations } = api.rateLimits
  const get = (path: string, body: object) => {
    const respond = async () => json(200, body)
    return [path, { methods: ["GET", "HEAD", "OPTIONS"], respond }] as const
  }
  const post = (
    path: string,
    respond: (request: Request, rateKey: string) => Promise<ApiResponse>,
  ) => {
    const endpoint: Endpoint = {
      methods: ["OPTIONS", "POST"],
      respond: async ({ request, connection }) => {
        const rateKey = await count(connection)
        return respond(request, rateKey).catch(toRefusal)
      },
    }
    return [path, endpoint] as const
  }
  return [
    get(resourceMetadata, toResourceMetadata(baseUrl, mcpPaths[0])),
    ...mcpPaths.map((path) => get(resourceMetadata + path, toResourceMetadata(baseUrl, path))),
    get("/.well-known/oauth-authorization-server", toServerMetadata(baseUrl)),
    get("/oauth/.well-known/openid-configuration", toOpenIdMetadata(baseUrl)),
    post("/oauth/device_authorization", async (request, rateKey) => {
      await registrations.take(rateKey)
      const device = await devices.start(await readForm(request, rateKey))
      const uri = `${baseUrl}/oauth/device`
      return json(200, {
        device_code: device.deviceCode,
        user_code: device.userCode,
        verification_uri: uri,
        verification_uri_complete: `${baseUrl}/oauth/authorize?user_code=${device.userCode}`,
        expires_in: device.expiresInSeconds,
        interval: device.intervalSeconds,
      })
    }),
    post("/oauth/register", async (request, rateKey) => {
      await registrations.take(rateKey)
      const client = await oauthClients.register(await readJson(request, rateKey))
      return json(201, {
        client_id: client.id,
        client_id_issued_at: Math.floor(client.createdAt / 1000),
        client_name: client.name,
        redirect_uris: client.redirectUris,
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: "none",
      })
    }),
    post("/oauth/token", async (request, rateKey) => {
      const pair = await clientTokens.exchange(await readForm(request, rateKey))
      return json(200, {
        access_token: pair.accessToken,
        token_type: "Bearer",
        expires_in: pair.expiresInSeconds,
        refresh_token: pair.refreshToken,
        scope: pair.scopes.join(" "),
      })
    }),
    post("/oauth/revoke", async (request, rateKey) => {
      await clientTokens.revoke(await readForm(request, rateKey))
      return json(200, {})
    }),
  ]
}

/** Where an assistant that has no token learns how to get one (RFC 9728). */
export function toResourceMetadataUrl(baseUrl: string, path: string): string {
  return `${baseUrl}${resourceMetadata}${path}`
}

function toResourceMetadata(baseUrl: string, path: string): object {
  return {
    resource: `${baseUrl}${path}`,
    authorization_servers: [baseUrl],
    scopes_supported: grantableScopes,
    bearer_methods_supported: ["header"],
    resource_name: "Hamlet",
    resource_documentation: `${baseUrl}/docs/assistants.md`,
  }
}

/** RFC 8414. */
function toServerMetadata(baseUrl: string): object {
  return {
    issuer: baseUrl,
    authorization_endpoint: `${baseUrl}/oauth/authorize`,
    token_endpoint: `${baseUrl}/oauth/token`,
    registration_endpoint: `${baseUrl}/oauth/register`,
    revocation_endpoint: `${baseUrl}/oauth/revoke`,
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["none"],
    revocation_endpoint_auth_methods_supported: ["none"],
    scopes_supported: grantableScopes,
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${baseUrl}/docs/assistants.md`,
  }
}

/** What the command line of the public clients reads. There are no identity tokens. */
function toOpenIdMetadata(baseUrl: string): object {
  return {
    ...toServerMetadata(baseUrl),
    issuer: `${baseUrl}/oauth`,
    device_authorization_endpoint: `${baseUrl}/oauth/device_authorization`,
    grant_types_supported: ["authorization_code", "refresh_token", deviceGrant],
    scopes_supported: ["openid", "offline_access", ...publicScopes.keys()],
    subject_types_supported: ["public"],
  }
}

/** The response to a refusal in the form of OAuth. */
function toRefusal(error: unknown): ApiResponse {
  if (!(error instanceof OAuthRefusal)) throw error
  const status = error.code === "temporarily_unavailable" ? 503 : 400
  return json(status, { error: error.code, error_description: error.message })
}

async function readJson(request: Request, rateKey: string): Promise<unknown> {
  const bytes = await readBody(request, limits.bodyBytesMax, rateKey)
  try {
    return parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes), limits.bodyBytesMax)
  } catch {
    throw new OAuthRefusal("invalid_client_metadata", "The body must be JSON")
  }
}

/** The parameters of a form. One that occurs twice could mean different things to two readers. */
async function readForm(request: Request, rateKey: string): Promise<TokenRequest> {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase()
  const bytes = await readBody(request, limits.bodyBytesMax, rateKey)
  if (type !== "application/x-www-form-urlencoded")
    throw new OAuthRefusal(
      "invalid_request",
      "The content type must be application/x-www-form-urlencoded",
    )
  const params = new URLSearchParams(Buffer.from(bytes).toString())
  return (name) => {
    const values = params.getAll(name)
    if (values.length > 1)
      throw new OAuthRefusal("invalid_request", `${name} occurs more than once`)
    return values[0]
  }
}
