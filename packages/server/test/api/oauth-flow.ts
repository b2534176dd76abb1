import { createHash } from "node:crypto"
import { type Scope, scope } from "@hamlet/contract"
import { allowClient } from "../../src/domain/oauth/authorize.ts"
import { exchangeTokens, type TokenPair } from "../../src/domain/oauth/exchange-tokens.ts"
import type { OAuthClient, OAuthDeps } from "../../src/domain/oauth/oauth.ts"
import { registerClient } from "../../src/domain/oauth/register-client.ts"

export const redirectUri = "https://client.invalid/callback"
export const verifier = "a-verifier-that-is-long-enough-for-the-rules"

/** A program that registered itself. */
export function addOAuthClient(deps: OAuthDeps): Promise<OAuthClient> {
  return registerClient(deps, { client_name: "Robot", redirect_uris: [redirectUri] })
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
  deps: OAuthDeps,
  user: { readonly id: string; readonly username: string },
  scopes: readonly Scope[] = ["val:read"],
): Promise<{ readonly id: string; readonly client: OAuthClient; readonly pair: TokenPair }> {
  const client = await addOAuthClient(deps)
  const caller = {
    userId: user.id,
    username: user.username,
    tokenId: "",
    scopes: new Set(scope.options),
  }
  const url = await allowClient(deps, caller, toAuthorizeQuery(client), scopes)
  const fields: Record<string, string | null> = {
    grant_type: "authorization_code",
    client_id: client.id,
    code: new URL(url).searchParams.get("code"),
    code_verifier: verifier,
  }
  const pair = await exchangeTokens(deps, (name) => fields[name] ?? undefined)
  const { items } = await deps.oauth.list(user.id, deps.now(), { limit: 1, offset: 0 })
  return { id: items[0]?.id ?? "", client, pair }
}
