import { ApiError } from "@hamlet/contract/client"
import { api } from "../api.ts"
import { explain } from "../data/explain.ts"
import { keepPageKey, readPageKey } from "./page-key.ts"
import { session } from "./session.ts"

/** Finds out who is here. */
export async function loadSession(): Promise<void> {
  const key = readPageKey()
  try {
    session.value = { kind: "signed-in", me: await api.getMe() }
  } catch (error) {
    const isSignedOut = error instanceof ApiError && error.status === 401
    // Another tab may have signed in meanwhile.
    if (isSignedOut && readPageKey() === key) keepPageKey(null)
    session.value = isSignedOut
      ? { kind: "signed-out" }
      : { kind: "unreachable", message: explain(error) }
  }
}

/** Signs in with a token, or with the code of a link that is good for one sign-in. */
export async function signIn(
  proof: { readonly token: string } | { readonly code: string },
): Promise<void> {
  const { pageKey } = await api.createSession(proof)
  keepPageKey(pageKey)
  await loadSession()
}

/** Signs this browser out. */
export async function signOut(): Promise<void> {
  await api.signOut()
  keepPageKey(null)
  session.value = { kind: "signed-out" }
}

/** Signs every browser out. */
export async function signOutEverywhere(): Promise<void> {
  await api.deleteAllSessions()
  keepPageKey(null)
  session.value = { kind: "signed-out" }
}
