import type { Item } from "@hamlet/contract/client"
import { api } from "../api.ts"
import { MoreButton } from "../data/more-button.tsx"
import { Bars, Loaded } from "../data/page-states.tsx"
import { usePages } from "../data/pages.ts"
import { navigate } from "../frame/location.ts"
import { sayDone, sayFailed } from "../frame/toast-list.ts"
import { TimeAgo } from "../parts/time-ago.tsx"
import { signOut, signOutEverywhere } from "../session/sign-in.ts"
import { describeBrowser } from "./describe-browser.ts"

/** The browsers that are signed in. */
export function Sessions() {
  const sessions = usePages("listSessions", {})
  const end = async (session: Item<"listSessions">) => {
    try {
      if (session.current) {
        await signOut()
        navigate("/")
        return
      }
      await api.deleteSession({ session_id: session.id })
      sayDone("That browser is signed out")
      sessions.reload()
    } catch (error) {
      sayFailed(error)
    }
  }
  const endAll = async () => {
    if (!confirm("Sign out of every browser, this one too?")) return
    await signOutEverywhere().then(() => navigate("/"), sayFailed)
  }
  return (
    <>
      <div class="toolbar">
        <p class="quiet">
          Each browser that is signed in has a session, which ends by itself after a while.
        </p>
        <span class="toolbar-push" />
        <button type="button" class="button button-danger-quiet" onClick={() => void endAll()}>
          Sign out everywhere
        </button>
      </div>
      <Loaded
        of={sessions.state}
        onRetry={sessions.reload}
        skeleton={<Bars count={2} kind="row" />}
      >
        {({ items }) => (
          <ul class="card">
            {items.map((session) => (
              <li key={session.id} class="session-row">
                <div>
                  <p>
                    {describeBrowser(session.userAgent)}{" "}
                    {session.current ? <span class="badge">this one</span> : null}
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
      </Loaded>
      <MoreButton list={sessions} />
    </>
  )
}
