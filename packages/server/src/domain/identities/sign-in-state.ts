import { parseOwnJson, toOwnJson } from "@hamlet/kit"
import { z } from "zod"
import { hashToken } from "../accounts/token-text.ts"
import { AppError } from "../app-error.ts"
import type { Clock } from "../clock.ts"
import type { Cipher } from "../secrets/cipher.ts"
import type { IdentityKey, IdentityProvider } from "./identity-provider.ts"

/** What the page of an attempt sends when the browser comes back from the provider. */
export interface ProviderResponse {
  readonly attempt: string
  readonly response: string
}

/** A person without an account, whom the provider has named. */
export interface Ticket extends IdentityKey {
  readonly email: string | null
  readonly isEmailVerified: boolean
  readonly expiresAt: number
}

/** How long an attempt and a ticket are valid. */
const stateLimits = { attemptMs: 15 * 60_000, ticketMs: 30 * 60_000 }

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

/** The sign-ins that have begun at the provider. */
export type SignInAttempts = ReturnType<typeof createSignInAttempts>

/**
 * Creates the attempts; `provider` is undefined if the operator has set none. The state of a sign-in
 * is in the browser, encrypted, so that anyone may begin as many sign-ins as they want without a row
 * in the database.
 */
export function createSignInAttempts(
  provider: IdentityProvider | undefined,
  cipher: Cipher,
  { now }: Clock,
) {
  const getProvider = () => {
    if (provider) return provider
    throw new AppError(
      "oidc_unavailable",
      "Cannot sign in with a provider: the operator of this server has set none",
    )
  }
  return {
    assertOffered: () => void getProvider(),
    /** Begins a sign-in. The page keeps `attempt`, which only this server can read. */
    async begin(): Promise<{ readonly url: string; readonly attempt: string }> {
      const { url, checks } = await getProvider().begin()
      const expiresAt = now() + stateLimits.attemptMs
      return { url, attempt: seal(cipher, { checks, expiresAt }, attemptPurpose) }
    },
    /** Asks the provider for the person. Throws when this server began no such attempt, or long ago. */
    async prove({ attempt, response }: ProviderResponse) {
      const offered = getProvider()
      const opened = attemptShape.safeParse(open(cipher, attempt, attemptPurpose)).data
      const { checks, expiresAt } = assertValid(opened, now())
      const proven = await offered.finish(response, checks)
      const { issuer, subject } = proven
      return {
        key: { issuer, subject },
        use: { hash: hashToken(checks.state), expiresAt },
        readProfile: () => proven.readProfile(),
      }
    },
    sealTicket: (ticket: Omit<Ticket, "expiresAt">) =>
      seal(cipher, { ...ticket, expiresAt: now() + stateLimits.ticketMs }, ticketPurpose),
    /** Throws when the text is not a ticket of this server, or has expired. */
    openTicket: (text: string): Ticket =>
      assertValid(ticketShape.safeParse(open(cipher, text, ticketPurpose)).data, now()),
  }
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
  const { keyId, bytes } = cipher.seal(toOwnJson(value), purpose)
  return `${keyId}.${Buffer.from(bytes).toString("base64url")}`
}

/** Undefined for a text that was not encrypted here, or for another purpose. */
function open(cipher: Cipher, text: string, purpose: string): unknown {
  const [keyId = "", bytes = ""] = text.split(".")
  try {
    return parseOwnJson(cipher.open({ keyId, bytes: Buffer.from(bytes, "base64url") }, purpose))
  } catch {
    // Whatever is wrong with it, the user has to begin again.
    return undefined
  }
}
