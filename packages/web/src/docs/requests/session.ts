import { sessionHeader } from "@hamlet/contract/client"
import { signal } from "@preact/signals"
import { hasPageKey, readPageKey } from "../../ui/page-key.ts"

/** The user who is signed in to the app in this browser, if one is. */
export const signedInAs = signal<string | undefined>(undefined)

/** Finds out who is signed in. Without the key of a session there is nothing to ask for. */
export async function findSignedIn(): Promise<void> {
  if (!hasPageKey()) return
  try {
    const response = await fetch("/v1/me", { ...sessionOptions(), cache: "no-store" })
    if (response.ok) signedInAs.value = ((await response.json()) as { username: string }).username
  } catch {
    // Without a response the page asks for a token, as it does for a visitor.
  }
}

/** The cookie counts only together with the key, which pages of other origins cannot read. */
export function sessionOptions(): {
  readonly credentials: "same-origin"
  readonly headers: Record<string, string>
} {
  return { credentials: "same-origin", headers: { [sessionHeader]: readPageKey() } }
}
