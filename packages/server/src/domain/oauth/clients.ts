import type { Clock } from "../clock.ts"
import { oauthLimits as limits, type OAuthClient, OAuthRefusal, type OAuthStore } from "./oauth.ts"
import { findRedirectProblem } from "./redirect-uris.ts"

/** The rules of registered programs. */
export type OAuthClients = ReturnType<typeof createOAuthClients>

/** Creates the rules of registration. */
export function createOAuthClients(store: OAuthStore, { newId, now }: Clock) {
  return {
    /**
     * Registers a client (RFC 7591). Any program may do so, hence the limits; a registration grants
     * nothing until a user allows it. Metadata that the server does not know is ignored.
     */
    async register(metadata: unknown): Promise<OAuthClient> {
      if (typeof metadata !== "object" || metadata === null || Array.isArray(metadata))
        throw new OAuthRefusal("invalid_client_metadata", "The body must be a JSON object")
      const fields = metadata as Readonly<Record<string, unknown>>
      const redirectUris = toRedirectUris(fields.redirect_uris)
      assertIncludes(fields.grant_types, "grant_types", "authorization_code")
      assertIncludes(fields.response_types, "response_types", "code")
      const name = toName(fields.client_name)
      const client: OAuthClient = { id: newId(), name, redirectUris, createdAt: now() }
      const staleBefore = client.createdAt - limits.staleMs
      if (!(await store.addClient(client, staleBefore, limits.clientsMax)))
        throw new OAuthRefusal(
          "temporarily_unavailable",
          "Cannot register another client: the server has too many",
        )
      return client
    },
  }
}

function toRedirectUris(value: unknown): readonly string[] {
  const isList = Array.isArray(value) && value.length > 0 && value.length <= limits.redirectUrisMax
  if (!isList)
    throw new OAuthRefusal(
      "invalid_redirect_uri",
      `redirect_uris must be a list of 1 to ${limits.redirectUrisMax} URIs`,
    )
  return value.map((uri: unknown) => {
    const problem = typeof uri === "string" ? findRedirectProblem(uri) : "must be a string"
    if (problem !== undefined)
      throw new OAuthRefusal("invalid_redirect_uri", `A redirect URI ${problem}`)
    return uri as string
  })
}

function assertIncludes(value: unknown, name: string, wanted: string): void {
  const isFine = value === undefined || (Array.isArray(value) && value.includes(wanted))
  if (!isFine) throw new OAuthRefusal("invalid_client_metadata", `${name} must include ${wanted}`)
}

/** People see the name: it has one line, and no characters that change the direction of text. */
function toName(value: unknown): string {
  const text = typeof value === "string" ? value.toWellFormed() : ""
  const line = text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim()
    .slice(0, limits.clientNameCharsMax)
    .toWellFormed()
  return line === "" ? "An unnamed program" : line
}
