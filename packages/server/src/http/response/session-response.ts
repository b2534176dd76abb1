import type { ApiResponse } from "./api-response.ts"

/** That a request came by a session; the cookie is there when it was given more time. */
export interface SessionUse {
  readonly setCookie?: string
}

/**
 * An answer to a request that came by a session. Nobody may keep one that is not for everybody, or
 * that has the cookie: a browser finds what it has kept for all pages of a site, and a cache
 * between gives it to others.
 */
export function toSessionResponse(answer: ApiResponse, { setCookie }: SessionUse): ApiResponse {
  const isForAll = setCookie === undefined && answer.headers["cache-control"]?.startsWith("public")
  const headers = isForAll ? answer.headers : { ...answer.headers, "cache-control": "no-store" }
  // An answer that sets the cookie itself knows better.
  return {
    ...answer,
    headers: setCookie === undefined ? headers : { "set-cookie": setCookie, ...headers },
  }
}
