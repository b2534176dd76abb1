import type { Caller } from "../../domain/access.ts"
import { renewSession } from "../../domain/accounts/sessions.ts"
import {
  type Authenticated,
  authenticate,
  authenticateSession,
} from "../../domain/accounts/tokens.ts"
import { AppError } from "../../domain/app-error.ts"
import { depthHeader, readDepth } from "../../domain/egress.ts"
import { createRateLimiter, type RateLimiter } from "../../domain/limits/rate-limit.ts"
import { parseAuthorization } from "../../shared/authorization-header.ts"
import type { HttpDeps } from "../deps.ts"
import type { SessionUse } from "../response/session-response.ts"
import { isFromOwnPage, type SessionCookie, SessionEnded } from "./session-cookie.ts"

/** Finds out who calls, and refuses those who call too often. */
export interface Authenticator {
  /**
   * Requests without a token are counted by the key. A bad token is refused even where none is
   * needed, and so is a session that has ended.
   */
  identify(request: Request, rateKey: () => string): Promise<Identity>
  /**
   * Lets a request through that is to sign a browser in. Another site could otherwise sign somebody
   * in as whoever it likes.
   */
  assertSignInAllowed(request: Request, rateKey: () => string): void
  /** Refuses a key for which too many requests without a token come. */
  countByAddress(rateKey: () => string): void
}

/** Who calls, and whether they do it by the session of a browser. */
export interface Identity {
  readonly caller?: Caller
  readonly session?: SessionUse
}

/** Keeps count of who calls how often. */
export function createAuthenticator(deps: HttpDeps): Authenticator {
  const perToken = toLimiter(deps.rateLimits.perTokenPerMinute, deps.now)
  const perAddress = toLimiter(deps.rateLimits.perAddressPerMinute, deps.now)
  return {
    async identify(request, rateKey) {
      const header = request.headers.get("authorization")
      const session = header === null ? findSession(deps, request) : undefined
      if (header === null && session === undefined) {
        perAddress?.take(rateKey())
        return {}
      }
      try {
        const known =
          header === null
            ? await resume(deps, session)
            : await authenticate(deps, parseBearer(header))
        perToken?.take(known.tokenId)
        if (!known.isOfRun) deps.tokenUses.note(known.tokenId, known.lastUsedAt, deps.now())
        const depth = request.headers.get(depthHeader)
        const caller = depth === null ? known : { ...known, depth: readDepth(depth) }
        return typeof session === "object"
          ? { caller, session: await renew(deps, known, session.text) }
          : { caller }
      } catch (error) {
        // Guessing tokens is calling without one.
        if (isGuess(error)) perAddress?.take(rateKey())
        throw error
      }
    },
    countByAddress(rateKey) {
      perAddress?.take(rateKey())
    },
    assertSignInAllowed(request, rateKey) {
      perAddress?.take(rateKey())
      if (isFromOwnPage(request)) return
      throw new AppError(
        "cross_site_request",
        "Cannot sign in: the request does not come from a page of this server",
      )
    },
  }
}

function toLimiter(perMinute: number | undefined, now: () => number): RateLimiter | undefined {
  return perMinute === undefined ? undefined : createRateLimiter(perMinute, now)
}

function isGuess(error: unknown): boolean {
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
      "Cannot accept the Authorization header: it must be the word Bearer and a token",
    )
  return authorization.credentials
}

/** The browser sends its cookie whoever asks it to. It counts only where a page of ours did. */
function findSession({ sessionCookie }: HttpDeps, request: Request): FoundSession {
  return isFromOwnPage(request) ? sessionCookie.find(request) : undefined
}

type FoundSession = ReturnType<SessionCookie["find"]>

async function resume(deps: HttpDeps, session: FoundSession): Promise<Authenticated> {
  const known =
    typeof session === "object" ? await authenticateSession(deps, session.text) : undefined
  if (!known) throw new SessionEnded(deps.sessionCookie.clear)
  return known
}

/** A session lasts while it is used. */
async function renew(deps: HttpDeps, known: Authenticated, text: string): Promise<SessionUse> {
  try {
    const expiresAt = await renewSession(deps, known)
    return expiresAt === undefined
      ? {}
      : { setCookie: deps.sessionCookie.set(text, expiresAt - deps.now()) }
  } catch (error) {
    // What was asked for can be done all the same, and the next request tries again.
    deps.log.warn("session_not_renewed", { error: String(error) })
    return {}
  }
}
