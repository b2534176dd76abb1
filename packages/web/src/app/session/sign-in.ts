import { ApiError, noPageKey } from "@hamlet/contract/client"
import { batch } from "@preact/signals"
import { readPageKey, storePageKey } from "../../ui/page-key.ts"
import { api } from "../api.ts"
import { explain } from "../data/explain.ts"
import { navigate } from "../frame/location.ts"
import { showDone } from "../frame/toast-list.ts"
import { acting, type Membership, memberships, restoreOwner } from "./owners.ts"
import { session, viewer } from "./session.ts"

const membershipsMax = 100

/** Loads the user of the session, with the organisations that the user belongs to. */
export async function loadSession(): Promise<void> {
  const key = readPageKey()
  try {
    const [me, found] = await Promise.all([api.getMe(), key === noPageKey ? [] : listMemberships()])
    batch(() => {
      if (viewer()?.id !== me.id) restoreOwner(me.id)
      memberships.value = found
      session.value = { kind: "signed-in", me }
    })
  } catch (error) {
    const isSignedOut = error instanceof ApiError && error.status === 401
    // Another tab may have signed in since.
    if (isSignedOut && readPageKey() === key) storePageKey(null)
    session.value = isSignedOut
      ? { kind: "signed-out" }
      : { kind: "unreachable", message: explain(error) }
  }
}

/** Asks again which organisations the user belongs to. */
export async function reloadMemberships(): Promise<void> {
  const before = acting.peek()
  memberships.value = await listMemberships()
  if (before && !acting.peek())
    showDone(`You no longer belong to ${before.org.username}, and act for yourself again`)
}

async function listMemberships(): Promise<readonly Membership[]> {
  return (await api.listMyMemberships({ limit: membershipsMax })).data
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
  batch(() => {
    memberships.value = []
    session.value = { kind: "signed-out" }
  })
  navigate("/")
}
