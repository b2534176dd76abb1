import type { Item } from "@hamlet/contract/client"
import { api } from "../api.ts"
import { LoadedPages } from "../data/loaded.tsx"
import { usePages } from "../data/pages.ts"
import { showDone } from "../frame/toast-list.ts"
import { Section } from "../parts/section.tsx"
import { TimeAgo } from "../parts/time-ago.tsx"
import { useAction } from "../parts/use-action.ts"
import { visitProvider } from "../session/provider.ts"
import { settings } from "../settings.ts"

/** The accounts at the provider that sign the user in. */
export function Identities() {
  const identities = usePages("listIdentities", {})
  const { isBusy, run } = useAction()
  const link = () =>
    run(() => visitProvider({ purpose: "link", to: location.pathname + location.search }))
  const unlink = (identity: Item<"listIdentities">) =>
    run(async () => {
      const who = identity.email ?? identity.issuer
      if (!confirm(`${who} will no longer sign you in. Do you have a token or another browser?`))
        return
      await api.unlinkIdentity({ identity_id: identity.id })
      showDone("Unlinked")
      identities.reload()
    })
  const end = (
    <button
      type="button"
      class="button button-quiet button-small"
      disabled={isBusy}
      onClick={() => void link()}
    >
      Link an account
    </button>
  )
  return (
    <Section title={`Sign-in with ${settings.providerName}`} end={end}>
      <LoadedPages of={identities} rows={1} empty={<p class="quiet">No account is linked.</p>}>
        {(items) => (
          <ul class="card">
            {items.map((identity) => (
              <li key={identity.id} class="session-row">
                <div>
                  <p>{identity.email ?? identity.issuer}</p>
                  <p class="quiet">
                    Linked <TimeAgo at={identity.createdAt} />
                    {identity.lastUsedAt ? (
                      <>
                        , last used <TimeAgo at={identity.lastUsedAt} />
                      </>
                    ) : null}
                  </p>
                </div>
                <button
                  type="button"
                  class="button button-quiet button-small"
                  onClick={() => void unlink(identity)}
                >
                  Unlink
                </button>
              </li>
            ))}
          </ul>
        )}
      </LoadedPages>
    </Section>
  )
}
