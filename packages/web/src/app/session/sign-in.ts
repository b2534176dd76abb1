import { ApiError } from "@hamlet/contract/client"
import { readPageKey, storePageKey } from "../../ui/page-key.ts"
import { api } from "../api.ts"
import { explain } from "../data/explain.ts"
import { navigate } from "../frame/location.ts"
import { session } from "./session.ts"

/** Loads the user of the session. */
export async function loadSession(): Promise<void> {
  const key = readPageKey()
  try {
    session.value = { kind: "signed-in", me: await api.getMe() }
  } catch (error) {
    const isSignedOut = error instanceof ApiError && error.status === 401
    // Another tab may have signed in since.
    if (isSignedOut && readPageKey() === key) storePageKey(null)
    session.value = isSignedOut
      ? { kind: "signed-out" }
      : { kind: "unreachable", message: explain(error) }
  }
}

/** Signs in with a token, or with the one-time code of a link. */
export async function signIn(
  proof: { readonly token: string } | { readonly code: string },
): Promise<void> {
  const { pageKey } = await api.createSession(proof)
  await enterSession(pageKey)
}

/** Uses a new session, whose cookie the browser has. */
export async function enterSession(pageKey: string): Promise<void> {
  storePageKey(pageKey)
  await loadSession()
}

/** Signs this browser out, or every browser, and shows the home page. */
export async function leave({ isEverywhere = false } = {}): Promise<void> {
  await (isEverywhere ? api.deleteAllSessions() : api.signOut())
  storePageKey(null)
  session.value = { kind: "signed-out" }
  navigate("/")
}
