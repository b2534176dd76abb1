import { effect, signal } from "@preact/signals"

const storageKey = "hamlet.docs.token"

/**
 * The token that requests are sent with. It is in memory, and in the tab's session storage only when
 * the user asks for it.
 */
export const token = signal(readStored())

/** Whether the token survives a reload of this tab. */
export const isTokenKept = signal(token.value !== "")

/** Keeps the session storage in step with the choice from now on. */
export function followToken(): void {
  effect(() => {
    const stored = isTokenKept.value ? token.value : ""
    try {
      if (stored === "") sessionStorage.removeItem(storageKey)
      else sessionStorage.setItem(storageKey, stored)
    } catch {
      // Without storage the token is lost when the page is left.
    }
  })
}

function readStored(): string {
  try {
    return sessionStorage.getItem(storageKey) ?? ""
  } catch {
    return ""
  }
}
