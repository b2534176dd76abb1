import { effect, signal } from "@preact/signals"

const storageKey = "hamlet.docs.token"

/**
 * The token that requests are sent with. In memory; in the tab's session storage only when the
 * person asks for it; nowhere else.
 */
export const token = signal(readKept())

/** Whether the token outlives a reload of this tab. */
export const isTokenKept = signal(token.value !== "")

/** Keeps the session storage as the person wants it from now on. */
export function followToken(): void {
  effect(() => {
    const kept = isTokenKept.value ? token.value : ""
    try {
      if (kept === "") sessionStorage.removeItem(storageKey)
      else sessionStorage.setItem(storageKey, kept)
    } catch {
      // A browser may forbid storage: then the token lives as long as the page.
    }
  })
}

function readKept(): string {
  try {
    return sessionStorage.getItem(storageKey) ?? ""
  } catch {
    return ""
  }
}
