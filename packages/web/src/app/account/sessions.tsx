import type { Item } from "@hamlet/contract/client"
import { api } from "../api.ts"
import { LoadedPages } from "../data/loaded.tsx"
import { usePages } from "../data/pages.ts"
import { navigate } from "../frame/location.ts"
import { showDone } from "../frame/toast-list.ts"
import { TimeAgo } from "../parts/time-ago.tsx"
import { useAction } from "../parts/use-action.ts"
import { signOut, signOutEverywhere } from "../session/sign-in.ts"
import { settings } from "../settings.ts"
import { describeBrowser } from "./describe-browser.ts"
import { Identities } from "./identities.tsx"

/** The browsers that are signed in. */
export function Sessions() {
  const sessions = usePages("listSessions", {})
  const { run } = useAction()
  const end = (session: Item<"listSessions">) =>
    run(async () => {
      if (session.current) {
        await signOut()
        navigate("/")
        return
      }
      await api.deleteSession({ session_id: session.id })
      showDone("That browser is signed out")
      sessions.reload()
    })
  const endAll = () =>
    run(async () => {
      if (!confirm("Sign out of every browser, including this one?")) return
      await signOutEverywhere()
      navigate("/")
    })
  return (
    <>
      <div class="toolbar">
        <p class="quiet">Each signed-in browser has a session, which expires after a while.</p>
        <span class="toolbar-push" />
        <button type="button" class="button button-danger-quiet" onClick={() => void endAll()}>
          Sign out everywhere
        </button>
      </div>
      <LoadedPages of={sessions} rows={2} empty={null}>
        {(items) => (
          <ul class="card">
            {items.map((session) => (
              <li key={session.id} class="session-row">
                <div>
                  <p>
                    {describeBrowser(session.userAgent)}{" "}
                    {session.current ? <span class="badge">this browser</span> : null}
                  </p>
                  <p class="quiet">
                    Signed in <TimeAgo at={session.createdAt} />
                    {session.lastUsedAt ? (
                      <>
                        , last used <TimeAgo at={session.lastUsedAt} />
                      </>
                    ) : null}
                  </p>
                </div>
                <button
                  type="button"
                  class="button button-quiet button-small"
                  onClick={() => void end(session)}
                >
                  Sign out
                </button>
              </li>
            ))}
          </ul>
        )}
      </LoadedPages>
      {settings.providerName === null ? null : <Identities />}
    </>
  )
}
