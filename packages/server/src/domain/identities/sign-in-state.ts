import { z } from "zod"
import { AppError } from "../app-error.ts"
import type { Cipher } from "../secrets/cipher.ts"
import type { IdentityKey, ProviderChecks } from "./identity-provider.ts"

/** A sign-in that has begun. Only the page that began it has the encrypted form. */
export interface SignInAttempt {
  readonly checks: ProviderChecks
  readonly expiresAt: number
}

/** A person without an account, whom the provider has named. */
export interface Ticket extends IdentityKey {
  readonly email: string | null
  readonly isEmailVerified: boolean
  readonly expiresAt: number
}

/** How long each is valid. */
export const stateLimits = { attemptMs: 15 * 60_000, ticketMs: 30 * 60_000 }

const attemptPurpose = "oidc attempt"
const ticketPurpose = "oidc ticket"

const attemptShape = z.object({
  checks: z.object({ state: z.string(), nonce: z.string(), verifier: z.string() }),
  expiresAt: z.number(),
})

const ticketShape = z.object({
  issuer: z.string(),
  subject: z.string(),
  email: z.string().nullable(),
  isEmailVerified: z.boolean(),
  expiresAt: z.number(),
})

/**
 * The state of a sign-in is in the browser, encrypted, so that anyone may begin as many sign-ins as
 * they want without a row in the database.
 */
export function sealAttempt(cipher: Cipher, attempt: SignInAttempt): string {
  return seal(cipher, attempt, attemptPurpose)
}

/** Throws when the text is not an attempt of this server, or has expired. */
export function openAttempt(cipher: Cipher, text: string, now: number): SignInAttempt {
  return assertValid(attemptShape.safeParse(open(cipher, text, attemptPurpose)).data, now)
}

export function sealTicket(cipher: Cipher, ticket: Ticket): string {
  return seal(cipher, ticket, ticketPurpose)
}

/** Throws when the text is not a ticket of this server, or has expired. */
export function openTicket(cipher: Cipher, text: string, now: number): Ticket {
  return assertValid(ticketShape.safeParse(open(cipher, text, ticketPurpose)).data, now)
}

/** The error of a sign-in that cannot be finished. The user can begin another one. */
export function signInRefused(reason: string): AppError {
  return new AppError("sign_in_refused", `Cannot sign in: ${reason}; begin again`)
}

function assertValid<State extends { readonly expiresAt: number }>(
  state: State | undefined,
  now: number,
): State {
  if (!state) throw signInRefused("the sign-in did not begin on this server")
  if (state.expiresAt <= now) throw signInRefused("it took too long")
  return state
}

function seal(cipher: Cipher, value: object, purpose: string): string {
  const { keyId, bytes } = cipher.seal(JSON.stringify(value), purpose)
  return `${keyId}.${Buffer.from(bytes).toString("base64url")}`
}

/** Undefined for a text that was not encrypted here, or for another purpose. */
function open(cipher: Cipher, text: string, purpose: string): unknown {
  const [keyId = "", bytes = ""] = text.split(".")
  try {
    return JSON.parse(cipher.open({ keyId, bytes: Buffer.from(bytes, "base64url") }, purpose))
  } catch {
    // Whatever is wrong with it, the user has to begin again.
    return undefined
  }
}
