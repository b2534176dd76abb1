import { noPageKey } from "@hamlet/contract/client"

const storageName = "hamlet-page-key"

/**
 * What is held where the browser keeps no storage for the page: the sign-in lasts until the page is
 * left.
 */
let held: string | null = null

/**
 * The key of this browser's session. The cookie counts only together with it. A page of another
 * origin can plant a cookie where it shares a domain with the app, but it cannot write this
 * storage. Read for each request: another tab may have signed in.
 */
export function readPageKey(): string {
  return (canStore() ? localStorage.getItem(storageName) : held) ?? noPageKey
}

/** Keeps the key of a session that has just begun; null forgets the one that was kept. */
export function keepPageKey(key: string | null): void {
  if (!canStore()) held = key
  else if (key === null) localStorage.removeItem(storageName)
  else localStorage.setItem(storageName, key)
}

function canStore(): boolean {
  try {
    return typeof localStorage === "object" && localStorage !== null
  } catch {
    // A browser that refuses storage throws when it is named.
    return false
  }
}
