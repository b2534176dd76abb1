import type { Scope } from "@hamlet/contract"
import { waitUntil } from "@hamlet/kit/testing"
import fc from "fast-check"
import { checkToken, createToken, deleteSecret, putSecret, revokeToken } from "./account-rules.ts"
import { type Actor, anyViewer, pickMostly, slot, viewerOf } from "./arbitraries.ts"
import { checkOutcome, checkRecord } from "./check.ts"
import { type Command, command } from "./command.ts"
import { done, type Model, type ModelToken, refuse } from "./model.ts"
import { viewToken } from "./views.ts"

const scopes: readonly Scope[] = ["val:read", "val:write", "user:read", "user:write", "run:read"]

/**
 * Requests that need one scope each and change nothing: what they ask for is not there, or not
 * acceptable.
 */
const uses: readonly {
  readonly method: string
  readonly path: string
  readonly scope: Scope
  readonly outcome: ReturnType<typeof refuse> | ReturnType<typeof done>
}[] = [
  { method: "GET", path: "/v1/me", scope: "user:read", outcome: done(200, undefined) },
  { method: "GET", path: "/v1/me/likes", scope: "val:read", outcome: done(200, undefined) },
  { method: "GET", path: "/v1/vals", scope: "val:read", outcome: done(200, undefined) },
  { method: "GET", path: "/v1/me/runs", scope: "run:read", outcome: done(200, undefined) },
  { method: "POST", path: "/v1/vals", scope: "val:write", outcome: refuse(400, "invalid_request") },
  {
    method: "DELETE",
    path: "/v1/me/secrets/MISSING",
    scope: "user:write",
    outcome: refuse(404, "secret_not_found"),
  },
]

export const createTokenCommand: fc.Arbitrary<Command> = fc
  .record({
    asking: slot,
    name: fc.constantFrom("laptop", "ci"),
    scopes: fc.array(
      fc.constantFrom(...scopes, ...scopes, "user:write" as const, "admin" as const),
      { minLength: 1, maxLength: 5 },
    ),
    expiresAt: fc.constantFrom(null, null, "2999-12-31T23:59:59.999Z", "2001-01-01T00:00:00.000Z"),
  })
  .map(({ asking, ...fields }) =>
    command(`create token ${JSON.stringify({ asking, ...fields })}`, async (model, api) => {
      const token = pickToken(model, asking)
      const outcome = createToken(model, token, fields)
      const response = await api.call("POST", "/v1/me/tokens", { as: token.text, body: fields })
      checkOutcome(response, outcome)
      if (outcome.code !== undefined) return
      outcome.value.id = response.json.id
      outcome.value.createdAt = response.json.createdAt
      outcome.value.text = response.json.token
      checkRecord(response.json, viewToken(outcome.value))
    }),
  )

export const useTokenCommand: fc.Arbitrary<Command> = fc
  .record({ token: slot, use: fc.constantFrom(...uses) })
  .map(({ token: tokenSlot, use }) =>
    command(`use token ${tokenSlot} for ${use.method} ${use.path}`, async (model, api) => {
      const token = pickToken(model, tokenSlot)
      const response = await api.call(use.method, use.path, {
        as: token.text,
        ...(use.method === "POST" ? { body: {} } : {}),
      })
      checkOutcome(response, checkToken(model, token, use.scope) ?? use.outcome)
    }),
  )

export const revokeTokenCommand: fc.Arbitrary<Command> = fc
  .record({ token: slot, by: fc.constantFrom<Actor[]>("owner", "owner", "owner", 0, undefined) })
  .map(({ token: tokenSlot, by }) =>
    command(`revoke token ${JSON.stringify({ token: tokenSlot, by })}`, async (model, api) => {
      const token = pickToken(model, tokenSlot)
      const caller = by === "owner" ? token.owner : viewerOf(model, by)
      // With the first token the model's users do everything else.
      if (token.text === caller?.token) return
      const outcome = revokeToken(model, caller, token.id)
      checkOutcome(await api.call("DELETE", `/v1/me/tokens/${token.id}`, { as: caller }), outcome)
    }),
  )

/** Mostly one that a command has made, for the first ones may do everything but `admin`. */
function pickToken(model: Model, index: number): ModelToken {
  return pickMostly(model.tokens.slice(model.users.length - 1), model.allTokens, index)
}

const secretNames = ["B_1", "_A"]
let lastSecretAt = 0

export const putSecretCommand: fc.Arbitrary<Command> = fc
  .record({
    by: anyViewer,
    name: fc.constantFrom(...secretNames),
    hosts: fc.constantFrom(undefined, null, ["api.example.com", "localhost:8080"]),
  })
  .map(({ by, name, hosts }) =>
    command(`put secret ${JSON.stringify({ by, name, hosts })}`, async (model, api) => {
      const caller = viewerOf(model, by)
      const outcome = putSecret(model, caller, name, hosts ?? null)
      // Secrets have no ids, so two in one millisecond would leave open which is the newest.
      await waitUntil(() => Date.now() > lastSecretAt)
      checkOutcome(
        await api.call("PUT", `/v1/me/secrets/${name}`, {
          as: caller,
          body: { value: "s3cret", ...(hosts === undefined ? {} : { hosts }) },
        }),
        outcome,
      )
      lastSecretAt = Date.now()
    }),
  )

export const deleteSecretCommand: fc.Arbitrary<Command> = fc
  .record({ by: anyViewer, name: fc.constantFrom(...secretNames) })
  .map(({ by, name }) =>
    command(`delete secret ${JSON.stringify({ by, name })}`, async (model, api) => {
      const caller = viewerOf(model, by)
      const outcome = deleteSecret(model, caller, name)
      checkOutcome(await api.call("DELETE", `/v1/me/secrets/${name}`, { as: caller }), outcome)
    }),
  )
