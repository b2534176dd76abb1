import { type Client, createClient, ownerHeader, sessionHeader } from "@hamlet/contract/client"
import { readPageKey } from "../ui/page-key.ts"
import { noteNoResponse } from "./data/connection.ts"
import { isAboutOwner } from "./session/is-about-owner.ts"
import { acting, refusals } from "./session/owners.ts"
import { markSessionEnded } from "./session/session.ts"
import { isEmbedded } from "./settings.ts"

/** The API, with the session of this browser if there is one. */
export const api: Client = createClient({ baseUrl: location.origin, fetch: sendWithSession })

/** Like `fetch`, with the session and the owner for whom the user acts. */
async function sendWithSession(url: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers)
  const key = readPageKey()
  // An embedded page never acts for the user, even where the browser would send the cookie: in a
  // page of the same site.
  if (!isEmbedded) headers.set(sessionHeader, key)
  const owner = isAboutOwner(url, init.method) ? acting.peek() : undefined
  if (owner) headers.set(ownerHeader, owner.org.id)
  const response = await fetch(url, {
    ...init,
    headers,
    credentials: isEmbedded ? "omit" : "same-origin",
    cache: "no-store",
  }).catch((error: unknown) => {
    if (!init.signal?.aborted) void noteNoResponse()
    throw error
  })
  // The response may be late: the user may have signed in again since the request was sent.
  if (response.status === 401 && !isSignIn(url) && readPageKey() === key) markSessionEnded()
  if (owner && (response.status === 403 || response.status === 404)) refusals.value += 1
  return response
}

/** A wrong token or link does not mean that the session has ended. */
function isSignIn(url: string): boolean {
  return /\/v1\/(sessions|sign-in-links\/owner)$/.test(url)
}
