import { z } from "zod"
import { id, text, time, url } from "./fields.ts"
import { limits } from "./limits.ts"

/** A browser that is signed in, as its user sees it. */
export const session = z
  .object({
    id,
    userAgent: z.string().nullable(),
    createdAt: time,
    expiresAt: time,
    lastUsedAt: time.nullable(),
    // Whether it is the one that the request came with.
    current: z.boolean(),
  })
  .meta({ id: "Session" })

/** An address that signs a browser in, once. */
export const signInLink = z.object({ url, expiresAt: time }).meta({ id: "SignInLink" })

const secretText = text(limits.tokenCharsMax, 1)

/** What a page sends to sign its browser in: a token, or what a sign-in link has after `#code=`. */
export const createSessionBody = z
  .object({ token: secretText.optional(), code: secretText.optional() })
  .refine(({ token, code }) => (token === undefined) !== (code === undefined), "must have either token or code")

/** The session that a path names. */
export const sessionParams = z.object({ session_id: id.transform((value) => value.toLowerCase()) })
