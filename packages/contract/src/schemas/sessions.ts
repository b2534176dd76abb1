import { z } from "zod"
import { limits } from "../limits.ts"
import { id, scope, text, time, url } from "./fields.ts"
import { list } from "./lengths.ts"

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

/** A program that the caller has allowed to act for them. */
export const authorization = z
  .object({
    id,
    clientName: z.string().describe("The name that the program gave itself"),
    scopes: z.array(scope).describe("What the program may do"),
    createdAt: time,
    lastUsedAt: time.describe("When the program last got a token, in UTC"),
    expiresAt: time.describe("When it ends unless the program uses it before, in UTC"),
  })
  .meta({ id: "Authorization" })

const query = text(limits.authorizationQueryCharsMax, 1).describe(
  "The query of `/oauth/authorize`, as the program has sent it",
)

/** The body to look at the request of a program. */
export const checkAuthorizationBody = z.object({ query })

/** The request of a program, for the user to decide. */
export const authorizationRequest = z
  .object({
    clientName: z.string().describe("The name that the program gave itself"),
    clientCreatedAt: time.describe("When the program was registered, in UTC"),
    redirectTarget: z.string().describe("The host or app that gets access"),
    isLocal: z.boolean().describe("Whether that is a program on the user's own machine"),
    scopes: z.array(scope).describe("What the user can allow"),
    denyUrl: url.describe("Where to send the browser if the user refuses"),
    refusal: z
      .object({
        message: z.string(),
        url: url.describe("Where to send the browser with the error"),
      })
      .nullable()
      .describe("Why it cannot be allowed; null if it can"),
  })
  .meta({ id: "AuthorizationRequest" })

/** The body to allow the request of a program. */
export const createAuthorizationBody = z.object({
  query,
  scopes: list(scope, scope.options.length)
    .transform((scopes) => [...new Set(scopes)])
    .describe("What the program may do, at most what it asked for; nothing if it is refused"),
})

/** Where the browser goes next. */
export const authorizationRedirect = z
  .object({ url: url.describe("Where to send the browser, with a code for the program") })
  .meta({ id: "AuthorizationRedirect" })
