import type { authorization, Scope } from "@hamlet/contract"
import type { Page, PageRequest } from "@hamlet/database/page"
import type { NewTokenRecord } from "../accounts/tokens.ts"
import type { Stored } from "../records/stored.ts"

/** A program that registered itself. It has no secret: PKCE and its redirect URIs protect users. */
export interface OAuthClient {
  readonly id: string
  readonly name: string
  readonly redirectUris: readonly string[]
  readonly createdAt: number
}

/** What a user has allowed a client to do, until one of them ends it. */
export type ClientAuthorization = Stored<typeof authorization>

/** An authorization to be stored. */
export interface NewAuthorization extends ClientAuthorization {
  readonly userId: string
  readonly clientId: string
}

/** A code that a client exchanges for tokens, once. Only its hash is stored. */
export interface AuthorizationCode {
  readonly hash: string
  readonly clientId: string
  readonly userId: string
  readonly redirectUri: string
  /** SHA-256 of the verifier, in base64url. */
  readonly challenge: string
  readonly scopes: readonly Scope[]
  readonly expiresAt: number
}

/** A program without a browser that waits for its user. */
export interface WaitingDevice {
  /** The hash of the code that the program exchanges for tokens. */
  readonly hash: string
  /** What the user enters. */
  readonly userCode: string
  /** What it asked for. */
  readonly scope: string
  readonly expiresAt: number
}

/** The tokens of an authorization: the hash of the refresh token, and the access token. */
export interface IssuedTokens {
  readonly refreshHash: string
  readonly access: NewTokenRecord
}

/** How many rows are kept; beyond it the oldest are deleted. */
export interface OAuthBounds {
  readonly authorizationsPerUserMax: number
  readonly accessTokensMax: number
  /** Used ones, of each authorization. */
  readonly refreshTokensMax: number
}

/** What became of a code or a refresh token. */
export type Redemption<Issued> = Issued | "unknown" | "reused"

/** Stores clients and what users have allowed them. */
export interface OAuthStore {
  /**
   * Adds a client. Of clients that no user has authorized, those registered before `staleBefore`
   * are deleted, and the oldest if there are too many. False when all others are in use.
   */
  addClient(client: OAuthClient, staleBefore: number, countMax: number): Promise<boolean>
  findClient(id: string): Promise<OAuthClient | undefined>
  /** Returns false when the client has been deleted. */
  addCode(code: AuthorizationCode, at: number): Promise<boolean>
  /**
   * Adds a device and, if it is the first, its client. False when `countMax` others wait; those that
   * have expired are deleted.
   */
  addDevice(
    device: WaitingDevice,
    client: OAuthClient,
    at: number,
    countMax: number,
  ): Promise<boolean>
  findDevice(userCode: string, at: number): Promise<WaitingDevice | undefined>
  /** Whether a device with a code of that hash waits. */
  isWaiting(hash: string, at: number): Promise<boolean>
  /** Adds the code of a device, which no longer waits. False when it did not. */
  allowDevice(code: AuthorizationCode, at: number): Promise<boolean>
  /**
   * Redeems a code in one transaction. `issue` returns undefined to refuse it. A code that was
   * redeemed before ends the authorization that it led to.
   */
  redeemCode<Issued extends { authorization: NewAuthorization; tokens: IssuedTokens }>(
    hash: string,
    issue: (code: AuthorizationCode & { clientName: string }) => Issued | undefined,
    bounds: OAuthBounds,
  ): Promise<Redemption<Issued>>
  /**
   * Replaces a refresh token in one transaction. One that was replaced before ends its
   * authorization: either the client or a thief has used it twice.
   */
  rotate<Issued extends { tokens: IssuedTokens; at: number; expiresAt: number }>(
    hash: string,
    issue: (authorization: NewAuthorization) => Issued | undefined,
    bounds: OAuthBounds,
  ): Promise<Redemption<Issued>>
  /** Ends the authorization of a refresh or access token, if it belongs to the client. */
  revokeToken(hash: string, clientId: string): Promise<void>
  /** Newest first, without those that have expired. */
  list(userId: string, at: number, page: PageRequest): Promise<Page<ClientAuthorization>>
  /** Ends an authorization with all its tokens. False when the user has no such authorization. */
  remove(userId: string, id: string): Promise<boolean>
}

/** Limits of OAuth. */
export const oauthLimits = {
  clientsMax: 10_000,
  /** How long a client is kept that no user has authorized. */
  staleMs: 86_400_000,
  redirectUrisMax: 10,
  redirectUriCharsMax: 2_000,
  clientNameCharsMax: 100,
  stateCharsMax: 4_000,
  codeMs: 120_000,
  accessTokenMs: 3_600_000,
  /** How long an authorization lasts that its client does not use. */
  authorizationMs: 30 * 86_400_000,
  deviceMs: 600_000,
  deviceIntervalMs: 5_000,
  devicesMax: 10_000,
  deviceScopeCharsMax: 1_000,
  authorizationsPerUserMax: 50,
  accessTokensMax: 10,
  refreshTokensMax: 200,
}

/**
 * The scopes that a client can get. Not `user:write`: its holder could create tokens that outlive
 * the authorization. Not the scopes of administration.
 */
export const grantableScopes: readonly Scope[] = [
  "val:read",
  "val:write",
  "user:read",
  "run:read",
  "run:write",
  "blob:read",
  "blob:write",
  "sqlite:read",
  "sqlite:write",
  "email:write",
  "openai:write",
]

/** The names under which the public clients ask for these scopes. */
export const publicScopes: ReadonlyMap<string, readonly Scope[]> = new Map([
  ["project_r", ["val:read"]],
  ["project_rw", ["val:read", "val:write"]],
  ["user_r", ["user:read"]],
  ["telemetry_r", ["run:read"]],
  ["blob_rw", ["blob:read", "blob:write"]],
  ["sqlite_rw", ["sqlite:read", "sqlite:write"]],
  ["email_rw", ["email:write"]],
])

/**
 * The command lines, which are known to every server and do not register: one client with two names.
 * That of the public clients keeps tokens of 43 characters only.
 */
export const commandLine = {
  id: "00000000-0000-7000-8000-000000000001",
  /** Until the code is exchanged, it is not known which of them has asked. */
  name: "hamlet or vt",
} as const

/** The command lines by their public ids. */
export const commandLines: ReadonlyMap<string, CommandLine> = new Map([
  ["val_town_vt", { name: "vt", accessTokenMs: oauthLimits.accessTokenMs }],
  // The program hamlet keeps one token, and asks its user to sign in again when that has expired.
  ["hamlet", { name: "hamlet", accessTokenMs: oauthLimits.authorizationMs }],
])

interface CommandLine {
  readonly name: string
  readonly accessTokenMs: number
}

/** The id under which a client is stored. */
export function toStoredClientId(clientId: string): string {
  return commandLines.has(clientId) ? commandLine.id : clientId
}

/** In place of the redirect URI, in the code of a program without a browser. */
export const deviceRedirect = "device"

/** The parameters of a form. */
export type TokenRequest = (name: string) => string | undefined

/** A refusal in the words of OAuth (RFC 6749, section 5.2; RFC 7591, section 3.2.2). */
export class OAuthRefusal extends Error {
  constructor(
    readonly code:
      | "invalid_request"
      | "invalid_grant"
      | "invalid_target"
      | "invalid_client"
      | "unsupported_grant_type"
      | "authorization_pending"
      | "access_denied"
      | "expired_token"
      | "invalid_redirect_uri"
      | "invalid_client_metadata"
      | "temporarily_unavailable",
    message: string,
  ) {
    super(message)
  }
}

/** The paths of the MCP server: our own, and the one that the public clients know. */
export const mcpPaths = ["/mcp", "/v3/mcp"] as const

/** Whether a client asks for tokens of this server (RFC 8707); without an answer it does. */
export function isOwnResource(baseUrl: string, resource: string | undefined): boolean {
  if (resource === undefined) return true
  const trimmed = resource.replace(/\/$/, "")
  return ["", ...mcpPaths].some((path) => trimmed === `${baseUrl}${path}`)
}
