import type { Output } from "@hamlet/contract/client"
import { signal } from "@preact/signals"

/** The person in front of the screen. */
export type Me = Output<"getMe">

/**
 * Whether somebody is signed in. `ended` is somebody whose session has ended while they were here:
 * what they typed is still there.
 */
export type Session =
  | { readonly kind: "unknown" }
  | { readonly kind: "signed-out" }
  | { readonly kind: "signed-in"; readonly me: Me }
  | { readonly kind: "ended"; readonly me: Me }
  /** The server did not answer; nobody knows. */
  | { readonly kind: "unreachable"; readonly message: string }

/** Who is here. */
export const session = signal<Session>({ kind: "unknown" })

/** The person who is signed in, if somebody is. */
export function whoIsHere(): Me | undefined {
  const { value } = session
  return value.kind === "signed-in" ? value.me : undefined
}

/** Hears that the server does not know the session any more. */
export function signedOut(): void {
  const { value } = session
  if (value.kind === "signed-in") session.value = { kind: "ended", me: value.me }
}
