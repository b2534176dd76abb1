import type { Scope } from "@hamlet/contract"
import fc from "fast-check"
import { checkToken, createToken, deleteSecret, putSecret, revokeToken } from "./account-rules.ts"
import { type Actor, anyViewer, pickMostly, slot, viewerOf } from "./arbitraries.ts"
import { checkOutcome, checkRecord } from "./check.ts"
import { type Command, command } from "./command.ts"
import { viewToken } from "./views.ts"
import { done, type ModelToken, refuse, type World } from "./world.ts"

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
    command(`create token ${JSON.stringify({ asking, ...fields })}`, async (world, api) => {
      const token = pickToken(world, asking)
      const outcome = createToken(world, token, fields)
      const answer = await api.call("POST", "/v1/me/tokens", { as: token.text, body: fields })
      checkOutcome(answer, outcome)
      if (outcome.code !== undefined) return
      outcome.value.id = answer.json.id
      outcome.value.createdAt = answer.json.createdAt
      outcome.value.text = answer.json.token
      checkRecord(answer.json, viewToken(outcome.value))
    }),
  )

export const useTokenCommand: fc.Arbitrary<Command> = fc
  .record({ token: slot, use: fc.constantFrom(...uses) })
  .map(({ token: tokenSlot, use }) =>
    command(`use token ${tokenSlot} for ${use.method} ${use.path}`, async (world, api) => {
      const token = pickToken(world, tokenSlot)
      const answer = await api.call(use.method, use.path, {
        as: token.text,
        ...(use.method === "POST" ? { body: {} } : {}),
      })
      checkOutcome(answer, checkToken(world, token, use.scope) ?? use.outcome)
    }),
  )

export const revokeTokenCommand: fc.Arbitrary<Command> = fc
  .record({ token: slot, by: fc.constantFrom<Actor[]>("owner", "owner", "owner", 0, undefined) })
  .map(({ token: tokenSlot, by }) =>
    command(`revoke token ${JSON.stringify({ token: tokenSlot, by })}`, async (world, api) => {
      const token = pickToken(world, tokenSlot)
      const caller = by === "owner" ? token.owner : viewerOf(world, by)
      // With the first token the model's users do everything else.
      if (token.text === caller?.token) return
      const outcome = revokeToken(world, caller, token.id)
      checkOutcome(await api.call("DELETE", `/v1/me/tokens/${token.id}`, { as: caller }), outcome)
    }),
  )

/** Mostly one that a command has made, for the first ones may do everything but `admin`. */
function pickToken(world: World, index: number): ModelToken {
  return pickMostly(world.tokens.slice(world.users.length - 1), world.allTokens, index)
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
    command(`put secret ${JSON.stringify({ by, name, hosts })}`, async (world, api) => {
      const caller = viewerOf(world, by)
      const outcome = putSecret(world, caller, name, hosts ?? null)
      // Secrets have no ids, so two in one millisecond would leave open which is the newest.
      while (Date.now() <= lastSecretAt) await Bun.sleep(0)
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
    command(`delete secret ${JSON.stringify({ by, name })}`, async (world, api) => {
      const caller = viewerOf(world, by)
      const outcome = deleteSecret(world, caller, name)
      checkOutcome(await api.call("DELETE", `/v1/me/secrets/${name}`, { as: caller }), outcome)
    }),
  )
