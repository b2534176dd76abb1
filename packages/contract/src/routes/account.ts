import { route } from "../route.ts"
import { createTokenBody, pageQuery, putSecretBody, putValSecretBody } from "../schemas/inputs.ts"
import { newToken, page, secret, token, valSecret } from "../schemas/records.ts"

/** The caller's tokens and secrets. */
export const accountRoutes = {
  listTokens: route("Tokens", "get /v1/me/tokens", {
    summary: "The caller's tokens, newest first",
    isPersonal: true,
    scope: "user:read",
    query: pageQuery,
    responses: { 200: page(token) },
  }),
  createToken: route("Tokens", "post /v1/me/tokens", {
    summary: "Create a token; only this response ever shows it",
    scope: "user:write",
    body: createTokenBody,
    responses: { 200: newToken },
    errors: ["scope_escalation"],
  }),
  revokeToken: route("Tokens", "delete /v1/me/tokens/{token_id}", {
    summary: "Revoke a token; it stops working at once",
    isPersonal: true,
    scope: "user:write",
    responses: { 204: null },
  }),
  listSecrets: route("Secrets", "get /v1/me/secrets", {
    summary: "The names of the caller's secrets",
    scope: "user:read",
    query: pageQuery,
    responses: { 200: page(secret) },
  }),
  putSecret: route("Secrets", "put /v1/me/secrets/{name}", {
    summary: "Set a secret; the API never returns its value",
    scope: "user:write",
    body: putSecretBody,
    responses: { 204: null },
    errors: ["too_many_secrets"],
  }),
  deleteSecret: route("Secrets", "delete /v1/me/secrets/{name}", {
    summary: "Delete a secret",
    scope: "user:write",
    responses: { 204: null },
    errors: ["secret_not_found"],
  }),
  listValSecrets: route("Secrets", "get /v1/vals/{val_id}/secrets", {
    summary: "The names of the secrets that one val of the caller has of its own",
    scope: "user:read",
    valAccess: "own",
    query: pageQuery,
    responses: { 200: page(valSecret) },
  }),
  putValSecret: route("Secrets", "put /v1/vals/{val_id}/secrets/{name}", {
    summary:
      "Set a secret of one val, which takes the place of the account's of the same name; the API never returns its value",
    scope: "user:write",
    valAccess: "own",
    body: putValSecretBody,
    responses: { 204: null },
    errors: ["too_many_secrets"],
  }),
  deleteValSecret: route("Secrets", "delete /v1/vals/{val_id}/secrets/{name}", {
    summary: "Delete a secret of one val",
    scope: "user:write",
    valAccess: "own",
    responses: { 204: null },
    errors: ["secret_not_found"],
  }),
}
