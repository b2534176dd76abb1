import { z } from "zod"
import { limits } from "../limits.ts"
import { id, text, time, url } from "./fields.ts"

/** A browser session. */
export const session = z
  .object({
    id,
    userAgent: z.string().nullable(),
    createdAt: time,
    expiresAt: time,
    lastUsedAt: time.nullable(),
    // Whether the request came from this session.
    current: z.boolean(),
  })
  .meta({ id: "Session" })

/** A new session. */
export const newSession = session
  .extend({
    // Shown once. The page sends it in `X-Hamlet-Session`: the cookie is valid only together with
    // its key.
    pageKey: z.string(),
  })
  .meta({ id: "NewSession" })

/** The account of a sign-in link. */
export const signInLinkOwner = z
  .object({ username: z.string(), expiresAt: time })
  .meta({ id: "SignInLinkOwner" })

/** A URL that signs a browser in, once. */
export const signInLink = z.object({ url, expiresAt: time }).meta({ id: "SignInLink" })

const secretText = text(limits.tokenCharsMax, 1)

/** The body to sign a browser in: a token, or the code after `#code=` in a sign-in link. */
export const createSessionBody = z
  .object({ token: secretText.optional(), code: secretText.optional() })
  .refine(
    ({ token, code }) => (token === undefined) !== (code === undefined),
    "must have either token or code",
  )

/** The body to look up a sign-in link. */
export const signInLinkBody = z.object({ code: secretText })

/** The path parameter of a session. */
export const sessionParams = z.object({ session_id: id.transform((value) => value.toLowerCase()) })
