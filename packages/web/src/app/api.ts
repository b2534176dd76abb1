import { type Client, createClient, sessionHeader } from "@hamlet/contract/client"
import { readPageKey } from "./session/page-key.ts"
import { signedOut } from "./session/session.ts"
import { isEmbedded } from "./settings.ts"

/** The API, for whoever is signed in; nobody has to be. */
export const api: Client = createClient({ baseUrl: location.origin, fetch: sendWithSession })

/** Like `fetch`, for whoever is signed in. */
async function sendWithSession(url: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers)
  // What others can put into their pages acts for nobody, even where the browser would send the
  // cookie: from a page of the same site.
  if (!isEmbedded) headers.set(sessionHeader, readPageKey())
  const response = await fetch(url, {
    ...init,
    headers,
    credentials: isEmbedded ? "omit" : "same-origin",
    cache: "no-store",
  })
  if (response.status === 401 && !isSignIn(url)) signedOut()
  return response
}

/** A wrong token or link says nothing about the session that the browser has. */
function isSignIn(url: string): boolean {
  return /\/v1\/(sessions|sign-in-links\/owner)$/.test(url)
}
