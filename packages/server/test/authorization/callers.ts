import { randomBytes } from "node:crypto"
import { type RouteDefinition, type Scope, scope } from "@hamlet/contract"
import { runScopes } from "../../src/domain/accounts/run-tokens.ts"
import { makeTokenText } from "../../src/domain/accounts/token-text.ts"
import type { TestApi, TestUser } from "../support/api.ts"

/** The sender of a request, and what the rules know about it. */
export interface TestCaller {
  readonly name: string
  /** The whole header; undefined sends none. */
  readonly authorization: string | undefined
  readonly token: "none" | "bad" | "good"
  readonly scopes: readonly Scope[]
  /** Whether they own what the request is about. */
  readonly isOwner: boolean
  /** Whether the token is one that a val was given. */
  readonly isOfRun?: boolean
  /** Whether the token has one scope only. */
  readonly isNarrow?: boolean
  /** The one scope that the token does not have. */
  readonly lacks?: Scope
}

const allScopes = scope.options

/**
 * The callers to try on a route: of those who lack one scope, only those who lack a scope that it
 * needs.
 */
export function callersFor(
  all: readonly TestCaller[],
  { scope, scopeToWrite }: RouteDefinition,
): readonly TestCaller[] {
  return all.filter(({ lacks }) => lacks === undefined || lacks === scope || lacks === scopeToWrite)
}

/** All callers. The bad tokens belong to the owner: accepting one would allow everything. */
export async function createCallers(
  api: TestApi,
  owner: TestUser,
  other: TestUser,
): Promise<readonly TestCaller[]> {
  const goodOwner = async (name: string, scopes: readonly Scope[]) =>
    good(`the owner with ${name}`, await issue(api, owner, scopes), scopes, true)
  return [
    {
      name: "somebody without a token",
      authorization: undefined,
      token: "none",
      scopes: [],
      isOwner: false,
    },
    ...(await createBadCallers(api, owner)),
    ...(await Promise.all(
      allScopes.map(async (one) => ({
        ...(await goodOwner(`scope ${one} alone`, [one])),
        isNarrow: true,
      })),
    )),
    ...(await Promise.all(
      allScopes.map(async (one) => ({
        ...(await goodOwner(`all scopes but ${one}`, without(one))),
        lacks: one,
      })),
    )),
    good("another user", other.token, without("admin", "backup"), false),
    good("the administrator", api.admin.token, allScopes, false),
    good("the owner", owner.token, without("admin", "backup"), true),
    {
      ...good(
        "a val that the owner runs",
        api.hamlet.parts.accounts.runTokens.issue(owner),
        runScopes,
        true,
      ),
      isOfRun: true,
    },
  ]
}

function without(...scopes: readonly Scope[]): readonly Scope[] {
  return allScopes.filter((one) => !scopes.includes(one))
}

async function createBadCallers(api: TestApi, owner: TestUser): Promise<readonly TestCaller[]> {
  const revoked = await api.hamlet.nouns.tokens.issue(owner.id, {
    name: "revoked",
    scopes: allScopes,
    expiresAt: null,
  })
  const expired = await issue(api, owner, allScopes, Date.now() - 1)
  const revocation = await api.call("DELETE", `/v1/me/tokens/${revoked.token.id}`, { as: owner })
  if (revocation.status !== 204) throw new Error(`Cannot revoke a token: ${revocation.text}`)
  const headers = {
    "an empty header": "",
    "no token after Bearer": "Bearer ",
    "another scheme": `Basic ${owner.token}`,
    "a token without a scheme": owner.token,
    "two tokens": `Bearer ${owner.token} ${owner.token}`,
    "a malformed token": "Bearer nonsense",
    "a token with a wrong checksum": `Bearer ${withOtherLast(owner.token)}`,
    "a token with a mistyped letter": `Bearer ${withOtherMiddle(owner.token)}`,
    "a token that was never issued": `Bearer ${makeTokenText(randomBytes(32))}`,
    "a token of the operator's that was never issued": `Bearer ${"x".repeat(32)}`,
    "a revoked token": `Bearer ${revoked.text}`,
    "an expired token": `Bearer ${expired}`,
  }
  return Object.entries(headers).map(([name, authorization]) => ({
    name,
    authorization,
    token: "bad",
    scopes: [],
    isOwner: false,
  }))
}

function withOtherLast(token: string): string {
  return token.slice(0, -1) + otherThan(token.at(-1))
}

function withOtherMiddle(token: string): string {
  return token.slice(0, 20) + otherThan(token[20]) + token.slice(21)
}

function otherThan(letter: string | undefined): string {
  return letter === "a" ? "b" : "a"
}

async function issue(
  api: TestApi,
  user: TestUser,
  scopes: readonly Scope[],
  expiresAt: number | null = null,
): Promise<string> {
  return (
    await api.hamlet.nouns.tokens.issue(user.id, {
      name: scopes.join(" ").slice(0, 100),
      scopes,
      expiresAt,
    })
  ).text
}

function good(name: string, token: string, scopes: readonly Scope[], isOwner: boolean): TestCaller {
  return { name, authorization: `Bearer ${token}`, token: "good", scopes, isOwner }
}
