import { createHash } from "node:crypto"
import { type Scope, scope } from "@hamlet/contract"
import type { Hamlet } from "../../src/compose.ts"
import { asOwner } from "../../src/domain/access/rights.ts"
import type { TokenPair } from "../../src/domain/oauth/client-tokens.ts"
import type { OAuthClient } from "../../src/domain/oauth/oauth.ts"

export const redirectUri = "https://client.invalid/callback"
export const verifier = "a-verifier-that-is-long-enough-for-the-rules"

/** A program that registered itself. */
export function addOAuthClient({ nouns }: Hamlet): Promise<OAuthClient> {
  return nouns.oauthClients.register({ client_name: "Robot", redirect_uris: [redirectUri] })
}

/** The query with which a program sends a user to the server; undefined leaves a field out. */
export function toAuthorizeQuery(
  { id }: Pick<OAuthClient, "id">,
  fields: Readonly<Record<string, string | undefined>> = {},
): string {
  const all = {
    client_id: id,
    redirect_uri: redirectUri,
    response_type: "code",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    state: "a state",
    ...fields,
  }
  const given = Object.entries(all).filter(
    (field): field is [string, string] => field[1] !== undefined,
  )
  return new URLSearchParams(given).toString()
}

/** Authorizes a program for a user, and returns its id, its authorization and its tokens. */
export async function addAuthorization(
  hamlet: Hamlet,
  user: { readonly id: string; readonly username: string },
  scopes: readonly Scope[] = ["val:read"],
): Promise<{ readonly id: string; readonly client: OAuthClient; readonly pair: TokenPair }> {
  const { nouns } = hamlet
  const client = await addOAuthClient(hamlet)
  const caller = {
    actorId: user.id,
    actorName: user.username,
    ownerName: user.username,
    ...asOwner(user.id),
    tokenId: "",
    scopes: new Set(scope.options),
  }
  const url = await nouns.authorizations.allow(caller, toAuthorizeQuery(client), scopes)
  const fields: Record<string, string | null> = {
    grant_type: "authorization_code",
    client_id: client.id,
    code: new URL(url).searchParams.get("code"),
    code_verifier: verifier,
  }
  const pair = await nouns.clientTokens.exchange((name) => fields[name] ?? undefined)
  const { items } = await nouns.authorizations.list(caller, { limit: 1, offset: 0 })
  return { id: items[0]?.id ?? "", client, pair }
}
