import { noPageKey } from "@hamlet/contract/client"

/** The name under which the browser stores it. */
export const pageKeyName = "hamlet-page-key"

/** The key where the browser has no storage: the sign-in lasts until the page is left. */
let held: string | null = null

/**
 * The key of this browser's session; the cookie is valid only together with it. A page of another
 * origin that shares a domain with the app can set a cookie, but it cannot write this storage. Read
 * for each request: another tab may have signed in.
 */
export function readPageKey(): string {
  return (canStore() ? localStorage.getItem(pageKeyName) : held) ?? noPageKey
}

/** Stores the key of a new session; null removes it. */
export function storePageKey(key: string | null): void {
  if (!canStore()) held = key
  else if (key === null) localStorage.removeItem(pageKeyName)
  else localStorage.setItem(pageKeyName, key)
}

function canStore(): boolean {
  try {
    return typeof localStorage === "object" && localStorage !== null
  } catch {
    // A browser that refuses storage throws on access.
    return false
  }
}
