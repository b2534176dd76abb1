import { ApiError } from "@hamlet/contract/client"
import { api } from "../api.ts"
import { explain } from "../model/explain.ts"
import { session } from "./session.ts"

/** Finds out who is here. */
export async function loadSession(): Promise<void> {
  try {
    session.value = { kind: "signed-in", me: await api.getMe() }
  } catch (error) {
    session.value =
      error instanceof ApiError && error.status === 401 ? { kind: "signed-out" } : { kind: "unreachable", message: explain(error) }
  }
}

/** Signs in with a token, or with the code of a link that is good for one sign-in. */
export async function signIn(proof: { readonly token: string } | { readonly code: string }): Promise<void> {
  await api.createSession(proof)
  await loadSession()
}

/** Signs this browser out. */
export async function signOut(): Promise<void> {
  await api.signOut()
  session.value = { kind: "signed-out" }
}

/** Signs every browser out. */
export async function signOutEverywhere(): Promise<void> {
  await api.deleteAllSessions()
  session.value = { kind: "signed-out" }
}
