import type { Scope } from "@hamlet/contract"
import {
  done,
  type ModelToken,
  type Outcome,
  type Refusal,
  refuse,
  type Viewer,
  type World,
} from "./world.ts"

/** What a new token is to be. */
export interface TokenFields {
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly expiresAt: string | null
}

/** POST /v1/me/tokens with that token: none gets more than the token that asks for it has. */
export function createToken(
  world: World,
  asking: ModelToken,
  fields: TokenFields,
): Outcome<ModelToken> {
  const refusal = checkToken(world, asking, "user:write")
  if (refusal) return refusal
  if (fields.scopes.some((scope) => !asking.scopes.includes(scope)))
    return refuse(403, "scope_escalation")
  if (fields.expiresAt !== null && Date.parse(fields.expiresAt) <= Date.now())
    return refuse(400, "invalid_request")
  const token: ModelToken = {
    id: "",
    owner: asking.owner,
    text: "",
    createdAt: "",
    ...fields,
    scopes: [...new Set(fields.scopes)],
  }
  world.tokens.push(token)
  world.allTokens.push(token)
  return done(200, token)
}

/** DELETE /v1/me/tokens/{token_id}: it stops working at once. */
export function revokeToken(world: World, caller: Viewer, id: string): Outcome {
  if (!caller) return refuse(401, "unauthenticated")
  const token = world.tokens.find((one) => one.id === id && one.owner === caller)
  if (!token) return refuse(404, "token_not_found")
  world.tokens = world.tokens.filter((one) => one !== token)
  return done(204, undefined)
}

/** Why a token does not open a route that needs that scope. */
export function checkToken(world: World, token: ModelToken, scope: Scope): Refusal | undefined {
  const isExpired = token.expiresAt !== null && Date.parse(token.expiresAt) <= Date.now()
  if (!world.tokens.includes(token) || isExpired) return refuse(401, "invalid_token")
  if (!token.scopes.includes(scope)) return refuse(403, "missing_scope")
  return undefined
}

/** PUT /v1/me/secrets/{NAME} */
export function putSecret(
  world: World,
  caller: Viewer,
  name: string,
  hosts: readonly string[] | null,
): Outcome {
  if (!caller) return refuse(401, "unauthenticated")
  const known = world.secrets.find((secret) => secret.name === name && secret.owner === caller)
  if (known) known.hosts = hosts
  else world.secrets.push({ name, owner: caller, hosts })
  return done(204, undefined)
}

/** DELETE /v1/me/secrets/{NAME} */
export function deleteSecret(world: World, caller: Viewer, name: string): Outcome {
  if (!caller) return refuse(401, "unauthenticated")
  const known = world.secrets.find((secret) => secret.name === name && secret.owner === caller)
  if (!known) return refuse(404, "secret_not_found")
  world.secrets = world.secrets.filter((secret) => secret !== known)
  return done(204, undefined)
}
