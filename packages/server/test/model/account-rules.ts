import type { Scope } from "@hamlet/contract"
import {
  done,
  type Model,
  type ModelToken,
  type Outcome,
  type Refusal,
  refuse,
  type Viewer,
} from "./model.ts"

/** What a new token is to be. */
export interface TokenFields {
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly expiresAt: string | null
}

/** POST /v1/me/tokens with that token: none gets more than the token that asks for it has. */
export function createToken(
  model: Model,
  asking: ModelToken,
  fields: TokenFields,
): Outcome<ModelToken> {
  const refusal = checkToken(model, asking, "user:write")
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
  model.tokens.push(token)
  model.allTokens.push(token)
  return done(200, token)
}

/** DELETE /v1/me/tokens/{token_id}: it stops working at once. */
export function revokeToken(model: Model, caller: Viewer, id: string): Outcome {
  if (!caller) return refuse(401, "unauthenticated")
  const token = model.tokens.find((one) => one.id === id && one.owner === caller)
  if (!token) return refuse(404, "token_not_found")
  model.tokens = model.tokens.filter((one) => one !== token)
  return done(204, undefined)
}

/** Why a token does not open a route that needs that scope. */
export function checkToken(model: Model, token: ModelToken, scope: Scope): Refusal | undefined {
  const isExpired = token.expiresAt !== null && Date.parse(token.expiresAt) <= Date.now()
  if (!model.tokens.includes(token) || isExpired) return refuse(401, "invalid_token")
  if (!token.scopes.includes(scope)) return refuse(403, "missing_scope")
  return undefined
}

/** PUT /v1/me/secrets/{NAME} */
export function putSecret(
  model: Model,
  caller: Viewer,
  name: string,
  hosts: readonly string[] | null,
): Outcome {
  if (!caller) return refuse(401, "unauthenticated")
  const known = model.secrets.find((secret) => secret.name === name && secret.owner === caller)
  if (known) known.hosts = hosts
  else model.secrets.push({ name, owner: caller, hosts })
  return done(204, undefined)
}

/** DELETE /v1/me/secrets/{NAME} */
export function deleteSecret(model: Model, caller: Viewer, name: string): Outcome {
  if (!caller) return refuse(401, "unauthenticated")
  const known = model.secrets.find((secret) => secret.name === name && secret.owner === caller)
  if (!known) return refuse(404, "secret_not_found")
  model.secrets = model.secrets.filter((secret) => secret !== known)
  return done(204, undefined)
}
