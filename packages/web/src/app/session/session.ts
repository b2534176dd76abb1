import type { Output } from "@hamlet/contract/client"
import { signal } from "@preact/signals"

/** The signed-in user. */
export type Me = Output<"getMe">

/** Whether a user is signed in. `ended`: the session ended while the page was open. */
export type Session =
  | { readonly kind: "unknown" }
  | { readonly kind: "signed-out" }
  | { readonly kind: "signed-in"; readonly me: Me }
  | { readonly kind: "ended"; readonly me: Me }
  /** The server did not respond. */
  | { readonly kind: "unreachable"; readonly message: string }

/** The session of this browser. */
export const session = signal<Session>({ kind: "unknown" })

/** The signed-in user, if there is one. */
export function currentUser(): Me | undefined {
  const { value } = session
  return value.kind === "signed-in" ? value.me : undefined
}

/** The user who sees the page: also after the session has ended, when the input stays. */
export function viewer(): Me | undefined {
  const { value } = session
  return "me" in value ? value.me : undefined
}

/** Notes a change of the signed-in user's profile. */
export function changeMe(change: Partial<Me>): void {
  const { value } = session
  if (value.kind === "signed-in")
    session.value = { kind: "signed-in", me: { ...value.me, ...change } }
}

/** Whether the signed-in user may manage the users of this server. */
export function isAdministrator(): boolean {
  return currentUser()?.scopes.includes("admin") ?? false
}

/** Notes that the server no longer accepts the session. */
export function markSessionEnded(): void {
  const { value } = session
  if (value.kind === "signed-in") session.value = { kind: "ended", me: value.me }
}
