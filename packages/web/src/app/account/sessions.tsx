import type { Item } from "@hamlet/contract/client"
import { api } from "../api.ts"
import { usePages } from "../data/pages.ts"
import { showDone } from "../frame/toast-list.ts"
import { Button } from "../parts/buttons/button.tsx"
import { RowList } from "../parts/lists/row-list.tsx"
import { Section } from "../parts/section.tsx"
import { TimeAgo } from "../parts/time-ago.tsx"
import { visitProvider } from "../session/provider.ts"
import { leave } from "../session/sign-in.ts"
import { settings } from "../settings.ts"
import { describeBrowser } from "./describe-browser.ts"

/** The browsers that are signed in. */
export function Sessions() {
  const sessions = usePages("listSessions", {})
  const end = async (session: Item<"listSessions">) => {
    if (session.current) return await leave()
    await api.deleteSession({ session_id: session.id })
    showDone("That browser is signed out")
    sessions.reload()
  }
  const endAll = async () => {
    if (!confirm("Sign out of every browser, including this one?")) return
    await leave({ isEverywhere: true })
  }
  return (
    <>
      <div class="row wrap toolbar">
        <p class="quiet">Each signed-in browser has a session, which expires after a while.</p>
        <span class="push" />
        <Button kind="danger-quiet" onClick={endAll}>
          Sign out everywhere
        </Button>
      </div>
      <RowList
        of={sessions}
        rows={2}
        empty={null}
        title={({ userAgent, current }) => (
          <>
            {describeBrowser(userAgent)} {current ? <span class="badge">this browser</span> : null}
          </>
        )}
        line={(session) => <Times since="Signed in" {...session} />}
        button={(session) => (
          <Button kind="quiet small" onClick={() => end(session)}>
            Sign out
          </Button>
        )}
      />
      {settings.providerName === null ? null : <Identities />}
    </>
  )
}

/** The accounts at the provider that sign the user in. */
function Identities() {
  const identities = usePages("listIdentities", {})
  const link = () => visitProvider({ purpose: "link", to: location.pathname + location.search })
  const unlink = async (id: string, who: string) => {
    if (!confirm(`${who} will no longer sign you in. Do you have a token or another browser?`))
      return
    await api.unlinkIdentity({ identity_id: id })
    showDone("Unlinked")
    identities.reload()
  }
  const end = (
    <Button kind="quiet small" action={link}>
      Link an account
    </Button>
  )
  return (
    <Section title={`Sign-in with ${settings.providerName}`} end={end}>
      <RowList
        of={identities}
        rows={1}
        empty={<p class="quiet">No account is linked.</p>}
        title={({ email, issuer }) => email ?? issuer}
        line={(identity) => <Times since="Linked" {...identity} />}
        button={({ id, email, issuer }) => (
          <Button kind="quiet small" onClick={() => unlink(id, email ?? issuer)}>
            Unlink
          </Button>
        )}
      />
    </Section>
  )
}

function Times(props: { since: string; createdAt: string; lastUsedAt: string | null }) {
  return (
    <>
      {props.since} <TimeAgo at={props.createdAt} />
      {props.lastUsedAt ? (
        <>
          , last used <TimeAgo at={props.lastUsedAt} />
        </>
      ) : null}
    </>
  )
}
