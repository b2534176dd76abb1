import { randomBytes, randomInt } from "node:crypto"
import { hashToken, makeTokenText } from "../accounts/token-text.ts"
import type { Clock } from "../clock.ts"
import {
  commandLine,
  commandLines,
  oauthLimits as limits,
  type OAuthClient,
  OAuthRefusal,
  type OAuthStore,
  type TokenRequest,
} from "./oauth.ts"

/** What a program without a browser shows its user, and what it waits with (RFC 8628). */
export interface StartedDevice {
  readonly deviceCode: string
  readonly userCode: string
  readonly expiresInSeconds: number
  readonly intervalSeconds: number
}

/** Without vowels and digits, so that codes are no words and no letter is mistaken. */
const letters = "BCDFGHJKLMNPQRSTVWXZ"
const codeLetters = 8

/** The rules of programs without a browser. */
export type Devices = ReturnType<typeof createDevices>

/** Creates the rules. Only the command lines may use them. */
export function createDevices(store: OAuthStore, { now }: Clock) {
  return {
    /** Begins to wait for a user. */
    async start(read: TokenRequest): Promise<StartedDevice> {
      if (!commandLines.has(read("client_id") ?? ""))
        throw new OAuthRefusal(
          "invalid_client",
          `client_id must be ${[...commandLines.keys()].join(" or ")}`,
        )
      const scope = read("scope") ?? ""
      if (scope.length > limits.deviceScopeCharsMax || !/^[\w:. -]*$/.test(scope))
        throw new OAuthRefusal("invalid_request", "scope is too long, or contains no names")
      const deviceCode = makeTokenText(randomBytes(32), "code")
      const userCode = Array.from(
        { length: codeLetters },
        () => letters[randomInt(letters.length)],
      ).join("")
      const at = now()
      const device = {
        hash: hashToken(deviceCode),
        userCode,
        scope,
        expiresAt: at + limits.deviceMs,
      }
      const client: OAuthClient = { ...commandLine, redirectUris: [], createdAt: at }
      if (!(await store.addDevice(device, client, at, limits.devicesMax)))
        throw new OAuthRefusal("temporarily_unavailable", "Too many programs wait for their users")
      return {
        deviceCode,
        userCode: toShownCode(userCode),
        expiresInSeconds: limits.deviceMs / 1000,
        intervalSeconds: limits.deviceIntervalMs / 1000,
      }
    },
  }
}

/** A code as people read it. */
export function toShownCode(userCode: string): string {
  return `${userCode.slice(0, 4)}-${userCode.slice(4)}`
}

/** The stored form of a code, however a person has written it. */
export function toUserCode(text: string): string {
  return text
    .slice(0, 100)
    .toUpperCase()
    .split(/[^A-Z]+/)
    .join("")
}
