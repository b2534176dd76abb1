import { z } from "zod"
import { limits } from "../limits.ts"
import { id, text, time, url } from "./fields.ts"

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

/** A session that has just begun. */
export const newSession = session
  .extend({
    // Shown once. The page keeps it and sends it in `X-Hamlet-Session`: a cookie counts only
    // together with its key.
    pageKey: z.string(),
  })
  .meta({ id: "NewSession" })

/** Whose account a sign-in link opens. */
export const signInLinkOwner = z
  .object({ username: z.string(), expiresAt: time })
  .meta({ id: "SignInLinkOwner" })

/** An address that signs a browser in, once. */
export const signInLink = z.object({ url, expiresAt: time }).meta({ id: "SignInLink" })

const secretText = text(limits.tokenCharsMax, 1)

/** What a page sends to sign its browser in: a token, or what a sign-in link has after `#code=`. */
export const createSessionBody = z
  .object({ token: secretText.optional(), code: secretText.optional() })
  .refine(
    ({ token, code }) => (token === undefined) !== (code === undefined),
    "must have either token or code",
  )

/** The code of a sign-in link that a page asks about. */
export const signInLinkBody = z.object({ code: secretText })

/** The session that a path names. */
export const sessionParams = z.object({ session_id: id.transform((value) => value.toLowerCase()) })
