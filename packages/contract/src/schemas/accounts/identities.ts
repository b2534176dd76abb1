import { z } from "zod"
import { limits } from "../../limits.ts"
import { id, text, time, url, username } from "../fields.ts"
import { newSession } from "../sessions.ts"

/** A sign-in that has begun: the page sends the browser to `url` and keeps `attempt`. */
export const providerAttempt = z
  .object({
    url: url.describe("The page of the provider"),
    attempt: z
      .string()
      .describe("Encrypted; the page sends it back with the response of the provider"),
  })
  .meta({ id: "ProviderAttempt" })

/** The body with the provider's response. */
export const providerResponseBody = z.object({
  attempt: text(limits.sealedCharsMax, 1).describe("What the beginning of the sign-in returned"),
  response: text(limits.providerResponseCharsMax, 1).describe(
    "The query with which the provider sent the browser back",
  ),
})

/** What a person without an account needs to create one. */
export const providerSignUp = z
  .object({
    ticket: z.string().describe("Encrypted: who the person is. It is valid for half an hour"),
    username: z
      .string()
      .nullable()
      .describe("A name to begin with, which may be taken; null for none"),
    email: z.string().nullable(),
    needsInvitation: z.boolean().describe("Whether the sign-up needs an invitation"),
  })
  .meta({ id: "ProviderSignUp" })

/**
 * The result of a sign-in: a session, or, for a person without an account, what a sign-up needs.
 */
export const providerSignIn = z
  .object({
    session: newSession.nullable().describe("Null for a person without an account"),
    signUp: providerSignUp.nullable().describe("Null for a person with an account"),
  })
  .meta({ id: "ProviderSignIn" })

/** The body of a sign-up. */
export const providerSignUpBody = z.object({
  ticket: text(limits.sealedCharsMax, 1).describe("What the sign-in returned"),
  username: username.describe("The name of the new user, without `@`"),
  invitation: text(limits.tokenCharsMax, 1)
    .describe("The code after `#code=` in an invitation link")
    .optional(),
})

/** An account at the provider that signs the user in. */
export const identity = z
  .object({
    id,
    issuer: z.string().describe("The provider"),
    email: z
      .string()
      .nullable()
      .describe("The address that the provider named when it was linked; null for none"),
    createdAt: time,
    lastUsedAt: time.nullable(),
  })
  .meta({ id: "Identity" })
