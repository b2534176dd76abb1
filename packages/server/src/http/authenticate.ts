import { AppError } from "../domain/app-error.ts"
import type { Caller } from "../domain/caller.ts"
import { depthHeader, readDepth } from "../domain/egress.ts"
import { createRateLimiter, type RateLimiter } from "../domain/rate-limit.ts"
import { authenticate } from "../domain/tokens.ts"
import type { HttpDeps } from "./deps.ts"

/** Finds out who calls, and refuses those who call too often. A bad token is refused even where none is needed. */
export function createAuthenticator(deps: HttpDeps): (request: Request, address: () => string) => Promise<Caller | undefined> {
  const perToken = toLimiter(deps.rateLimits.perTokenPerMinute, deps.now)
  const perAddress = toLimiter(deps.rateLimits.perAddressPerMinute, deps.now)
  return async (request, address) => {
    const header = request.headers.get("authorization")
    if (header === null) {
      perAddress?.take(address())
      return undefined
    }
    try {
      const caller = await authenticate(deps, parseBearer(header))
      perToken?.take(caller.tokenId)
      if (!caller.isOfRun) deps.tokenUses.note(caller.tokenId, caller.lastUsedAt, deps.now())
      const depth = request.headers.get(depthHeader)
      return depth === null ? caller : { ...caller, depth: readDepth(depth) }
    } catch (error) {
      // Guessing tokens is calling without one.
      if (error instanceof AppError && error.code === "invalid_token") perAddress?.take(address())
      throw error
    }
  }
}

function toLimiter(perMinute: number | undefined, now: () => number): RateLimiter | undefined {
  return perMinute === undefined ? undefined : createRateLimiter(perMinute, now)
}

function parseBearer(header: string): string {
  const token = /^bearer +(\S+) *$/i.exec(header)?.[1]
  if (token === undefined)
    throw new AppError("invalid_token", "Cannot accept the Authorization header: it must be the word Bearer and a token")
  return token
}
