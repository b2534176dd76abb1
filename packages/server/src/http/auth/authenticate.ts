import { ownerHeader } from "@hamlet/contract"
import { depthHeader } from "@hamlet/sandbox"
import type { Caller } from "../../domain/access/caller.ts"
import { AppError } from "../../domain/app-error.ts"
import { readDepth } from "../../domain/egress.ts"
import { parseAuthorization } from "../../shared/headers/authorization-header.ts"
import type { Nouns } from "../nouns.ts"
import { parseRequestUrl } from "../request/request-url.ts"
import type { ApiResponse } from "../response/api-response.ts"
import { isFromOwnPage, type SessionCookie } from "./session-cookie.ts"

/** Authenticates callers and enforces the rate limits. */
export type Authenticator = ReturnType<typeof createAuthenticator>

/** The caller, and the session if a browser sent the request. */
export interface Authentication {
  readonly caller?: Caller
  readonly session?: SessionUse
}

/** Marks a request that was authenticated by a session; `setCookie` extends the session. */
export interface SessionUse {
  readonly setCookie?: string
}

/** Creates the authenticator. */
export function createAuthenticator(nouns: Nouns) {
  const { tokens, tokenUses, clock, api } = nouns
  const { perToken, perAddress } = api.rateLimits
  return {
    /**
     * Requests without a token count against `rateKey`. An invalid token or an ended session is
     * refused even on routes that need no authentication.
     */
    async identify(request: Request, rateKey: () => string): Promise<Authentication> {
      const header = request.headers.get("authorization")
      const session = header === null ? findSession(api, request) : undefined
      if (header === null && session === undefined) {
        await perAddress?.take(rateKey())
        return {}
      }
      try {
        const authenticated =
          header === null
            ? await resume(nouns, session)
            : await tokens.authenticate(parseBearer(header))
        await perToken?.take(authenticated.tokenId)
        tokenUses.note(authenticated, clock.now())
        const depth = request.headers.get(depthHeader)
        const acting = await actFor(nouns, authenticated, request)
        const caller = depth === null ? acting : { ...acting, depth: readDepth(depth) }
        return typeof session === "object"
          ? { caller, session: await renew(nouns, authenticated, session.text) }
          : { caller }
      } catch (error) {
        // A wrong token counts as no token, so that guessing tokens is limited.
        if (isWrongCredential(error)) await perAddress?.take(rateKey())
        throw error
      }
    },
    /** Counts a request against the limit for requests without a token. */
    async countByAddress(rateKey: () => string): Promise<void> {
      await perAddress?.take(rateKey())
    },
    /** Throws unless a page of this server sent the sign-in: another site could sign a browser in. */
    async assertSignInAllowed(request: Request, rateKey: () => string): Promise<void> {
      await perAddress?.take(rateKey())
      if (isFromOwnPage(request)) return
      throw new AppError(
        "cross_site_request",
        "Cannot sign in: the request does not come from a page of this server",
      )
    },
  }
}

/** The caller as one who acts for the owner that the request names, if it names one. */
async function actFor({ organisations }: Nouns, caller: Caller, request: Request): Promise<Caller> {
  const owner = request.headers.get(ownerHeader) ?? findOwner(request.url)
  if (owner === null) return caller
  return organisations.actFor(caller, owner, "viewer")
}

/** The parameter `owner` of the query. Nearly no request has it. */
function findOwner(url: string): string | null {
  return /[?&]owner=/.test(url) ? parseRequestUrl(url).searchParams.get("owner") : null
}

function isWrongCredential(error: unknown): boolean {
  return (
    error instanceof AppError &&
    (error.code === "invalid_token" || error.code === "invalid_session")
  )
}

function parseBearer(header: string): string {
  const authorization = parseAuthorization(header)
  if (authorization?.scheme !== "bearer")
    throw new AppError(
      "invalid_token",
      'Cannot accept the Authorization header: it must be "Bearer" and a token',
    )
  return authorization.credentials
}

/** Browsers attach the cookie to requests of any site; it counts only for pages of this server. */
function findSession({ sessionCookie }: Nouns["api"], request: Request): FoundSession {
  return isFromOwnPage(request) ? sessionCookie.find(request) : undefined
}

type FoundSession = ReturnType<SessionCookie["find"]>

/**
 * The response to an ended session does not delete the cookie: it may arrive after the user has
 * signed in again, and would delete the new one.
 */
async function resume({ tokens }: Nouns, session: FoundSession): Promise<Caller> {
  const authenticated =
    typeof session === "object" ? await tokens.authenticateSession(session.text) : undefined
  if (authenticated) return authenticated
  throw new AppError(
    "invalid_session",
    "Cannot continue: the session of this browser has ended; sign in again",
  )
}

/**
 * Extends a session that is in use, about once a day. Should the response arrive after another
 * sign-in, it brings the old cookie back, as with all cookies that are renewed: the user has to sign
 * in again.
 */
async function renew(
  { sessions, clock, api }: Nouns,
  authenticated: Caller,
  text: string,
): Promise<SessionUse> {
  try {
    const expiresAt = await sessions.renew(authenticated)
    return expiresAt === undefined
      ? {}
      : { setCookie: api.sessionCookie.set(text, expiresAt - clock.now()) }
  } catch (error) {
    // The request itself can proceed; the next one tries to renew again.
    api.log.warn("session_not_renewed", { error: String(error) })
    return {}
  }
}

/**
 * Prepares the response to a request with a session. Caches must not store it unless it is public
 * and does not set the cookie: a browser shares its cache among all pages of a site.
 */
export function toSessionResponse(response: ApiResponse, { setCookie }: SessionUse): ApiResponse {
  const isPublic =
    setCookie === undefined && response.headers["cache-control"]?.startsWith("public")
  const headers = isPublic ? response.headers : { ...response.headers, "cache-control": "no-store" }
  return {
    ...response,
    // A cookie that the handler sets takes precedence.
    headers: setCookie === undefined ? headers : { "set-cookie": setCookie, ...headers },
  }
}
