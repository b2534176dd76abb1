/**
 * Whether a request is about what belongs to an owner. A request with the id of a val is about the owner
 * of that val, which the server knows, and sessions, memberships and likes are the person's.
 */
export function isAboutOwner(url: string, method = "GET"): boolean {
  const { pathname } = new URL(url)
  if (pathname.startsWith("/v1/me/tokens")) return method === "POST"
  return /^\/v\d\/(?:me\/(?!session|sign-in|memberships|identities|authorization|likes|email\/)|blob|sqlite|eval$|vals(?:$|\/import$|\/[^/]+\/fork$))/.test(
    pathname,
  )
}
