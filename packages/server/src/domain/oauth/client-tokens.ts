import { randomBytes } from "node:crypto"
import type { Scope } from "@hamlet/contract"
import { isSameSecret, sha256 } from "@hamlet/kit"
import { hashToken, hasTokenShape, makeTokenText } from "../accounts/token-text.ts"
import { makeToken } from "../accounts/tokens.ts"
import type { Clock } from "../clock.ts"
import {
  type AuthorizationCode,
  commandLine,
  commandLines,
  deviceRedirect,
  isOwnResource,
  oauthLimits as limits,
  type NewAuthorization,
  OAuthRefusal,
  type OAuthStore,
  type TokenRequest,
  toStoredClientId,
} from "./oauth.ts"
import { isRegistered } from "./redirect-uris.ts"

/** What the token endpoint returns. */
export interface TokenPair {
  readonly accessToken: string
  readonly refreshToken: string
  readonly expiresInSeconds: number
  readonly scopes: readonly Scope[]
}

/** The grant of programs without a browser (RFC 8628). */
export const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

/** The rules of the tokens of programs. */
export type ClientTokens = ReturnType<typeof createClientTokens>

/** Creates the rules of the tokens of programs. */
export function createClientTokens(store: OAuthStore, baseUrl: string, clock: Clock) {
  const exchangeCode = async (read: TokenRequest): Promise<TokenPair> => {
    const code = require(read, "code")
    const clientId = require(read, "client_id")
    const verifier = require(read, "code_verifier")
    const redirectUri = read("redirect_uri")
    if (!hasTokenShape(code, "code")) throw invalidGrant()
    const isFor = (stored: AuthorizationCode) =>
      stored.clientId === clientId &&
      stored.expiresAt > clock.now() &&
      (redirectUri === undefined || isRegistered([stored.redirectUri], redirectUri)) &&
      isVerified(stored.challenge, verifier)
    const redeemed = await store.redeemCode(
      hashToken(code),
      (stored) => {
        if (!isFor(stored)) return undefined
        const authorization = toAuthorization(clock, stored)
        return { authorization, ...issue(clock, authorization, clientId) }
      },
      limits,
    )
    if (typeof redeemed === "string") throw invalidGrant()
    return redeemed.pair
  }
  const refresh = async (read: TokenRequest): Promise<TokenPair> => {
    const refreshToken = require(read, "refresh_token")
    const publicId = require(read, "client_id")
    const clientId = toStoredClientId(publicId)
    if (!hasTokenShape(refreshToken, "refresh")) throw invalidGrant()
    const rotated = await store.rotate(
      hashToken(refreshToken),
      (authorization) => {
        const at = clock.now()
        return authorization.clientId !== clientId || authorization.expiresAt <= at
          ? undefined
          : { ...issue(clock, authorization, publicId), at, expiresAt: at + limits.authorizationMs }
      },
      limits,
    )
    if (typeof rotated === "string") throw invalidGrant()
    return rotated.pair
  }
  return {
    /** Exchanges a code or a refresh token for tokens. */
    async exchange(read: TokenRequest): Promise<TokenPair> {
      if (!isOwnResource(baseUrl, read("resource")))
        throw new OAuthRefusal("invalid_target", "resource must be the address of this server")
      const grantType = read("grant_type")
      if (grantType === "authorization_code") return exchangeCode(read)
      if (grantType === "refresh_token") return refresh(read)
      if (grantType === deviceGrant) return exchangeDevice(store, clock, read)
      throw new OAuthRefusal(
        grantType === undefined ? "invalid_request" : "unsupported_grant_type",
        `grant_type must be authorization_code, refresh_token or ${deviceGrant}`,
      )
    },
    /** Ends the authorization of a token (RFC 7009). An unknown token is no error. */
    async revoke(read: TokenRequest): Promise<void> {
      const token = require(read, "token")
      await store.revokeToken(hashToken(token), toStoredClientId(require(read, "client_id")))
    },
  }
}

/** While the user has not decided, the program asks again. */
async function exchangeDevice(
  store: OAuthStore,
  clock: Clock,
  read: TokenRequest,
): Promise<TokenPair> {
  const code = require(read, "device_code")
  const publicId = require(read, "client_id")
  const clientId = toStoredClientId(publicId)
  if (!hasTokenShape(code, "code")) throw invalidGrant()
  const hash = hashToken(code)
  if (await store.isWaiting(hash, clock.now()))
    throw new OAuthRefusal("authorization_pending", "The user has not decided yet")
  let isRefused = false
  const redeemed = await store.redeemCode(
    hash,
    (stored) => {
      const isFor = stored.clientId === clientId && stored.redirectUri === deviceRedirect
      if (!isFor || stored.expiresAt <= clock.now()) return undefined
      isRefused = stored.scopes.length === 0
      if (isRefused) return undefined
      const { name: clientName = stored.clientName } = commandLines.get(publicId) ?? {}
      const authorization = toAuthorization(clock, { ...stored, clientName })
      return { authorization, ...issue(clock, authorization, publicId) }
    },
    limits,
  )
  if (isRefused) throw new OAuthRefusal("access_denied", "The user has refused")
  if (typeof redeemed === "string")
    throw new OAuthRefusal("expired_token", "The code has expired, was used, or never existed")
  return redeemed.pair
}

function toAuthorization(
  { newId, now }: Clock,
  { userId, clientId, clientName, scopes }: AuthorizationCode & { readonly clientName: string },
): NewAuthorization {
  const at = now()
  const times = { createdAt: at, lastUsedAt: at, expiresAt: at + limits.authorizationMs }
  return { id: newId(), userId, clientId, clientName, scopes, ...times }
}

function issue(
  clock: Clock,
  { userId, clientId, clientName, scopes }: NewAuthorization,
  publicId: string,
) {
  const { accessTokenMs } = commandLines.get(publicId) ?? limits
  const refreshToken = makeTokenText(randomBytes(32), "refresh")
  const { record, text } = makeToken(
    clock,
    userId,
    { name: clientName, scopes, expiresAt: clock.now() + accessTokenMs },
    clientId === commandLine.id ? randomBytes(32).toString("base64url") : undefined,
  )
  const pair: TokenPair = {
    accessToken: text,
    refreshToken,
    expiresInSeconds: accessTokenMs / 1000,
    scopes,
  }
  return { pair, tokens: { refreshHash: hashToken(refreshToken), access: record } }
}

function isVerified(challenge: string, verifier: string): boolean {
  if (!/^[\w.~-]{43,128}$/.test(verifier)) return false
  return isSameSecret(sha256(verifier), Buffer.from(challenge, "base64url"))
}

function require(read: TokenRequest, name: string): string {
  const value = read(name)
  if (value === undefined || value === "")
    throw new OAuthRefusal("invalid_request", `${name} is missing`)
  return value
}

/** One error for all reasons: a thief learns nothing. */
function invalidGrant(): OAuthRefusal {
  return new OAuthRefusal(
    "invalid_grant",
    "The code or refresh token is unknown, expired, used or of another client",
  )
}
