import type { Item, Output } from "@hamlet/contract/client"
import { useSignal } from "@preact/signals"
import { CopyButton } from "../../ui/copy-button.tsx"
import { Icon } from "../../ui/icon.tsx"
import { api } from "../api.ts"
import { MoreButton } from "../data/more-button.tsx"
import { Bars, EmptyState, Loaded } from "../data/page-states.tsx"
import { usePages } from "../data/pages.ts"
import { sayDone, sayFailed } from "../frame/toast-list.ts"
import { TimeAgo } from "../parts/time-ago.tsx"
import { NewToken } from "./new-token.tsx"

/** Tokens that act for one elsewhere: in a terminal, in CI, in other programs. */
export function Tokens() {
  const tokens = usePages("listTokens", {})
  const isMaking = useSignal(false)
  const made = useSignal<Output<"createToken"> | undefined>(undefined)
  return (
    <>
      <div class="toolbar">
        <p class="quiet">
          A token acts for you within its scopes. Its text is shown once, when it is made.
        </p>
        <span class="toolbar-push" />
        <button
          type="button"
          class="button"
          onClick={() => {
            isMaking.value = true
          }}
        >
          <Icon name="plus" /> New token
        </button>
      </div>
      {made.value ? <Made token={made.value} /> : null}
      {isMaking.value ? (
        <NewToken
          onClose={() => {
            isMaking.value = false
          }}
          onDone={(token) => {
            isMaking.value = false
            made.value = token
            tokens.reload()
          }}
        />
      ) : null}
      <Loaded of={tokens.state} onRetry={tokens.reload} skeleton={<Bars count={3} kind="row" />}>
        {({ items }) =>
          items.length > 0 ? (
            <TokenTable tokens={items} onChange={tokens.reload} />
          ) : (
            <EmptyState icon="key" title="No tokens">
              <p>Make one to use the command line or the API.</p>
            </EmptyState>
          )
        }
      </Loaded>
      <MoreButton list={tokens} />
    </>
  )
}

function Made({ token: { name, token } }: { token: Output<"createToken"> }) {
  return (
    <div class="made card card-pad" role="status">
      <p>
        <strong>{name}</strong> is made. Copy it now: it is never shown again.
      </p>
      <p class="made-text">
        <code>{token}</code>
        <CopyButton text={token} label="Copy the token" />
      </p>
    </div>
  )
}

function TokenTable({
  tokens,
  onChange,
}: {
  tokens: readonly Item<"listTokens">[]
  onChange: () => void
}) {
  const revoke = async (token: Item<"listTokens">) => {
    if (!confirm(`Revoke "${token.name}"? Whatever uses it stops working at once.`)) return
    try {
      await api.revokeToken({ token_id: token.id })
      sayDone(`${token.name} is revoked`)
      onChange()
    } catch (error) {
      sayFailed(error)
    }
  }
  return (
    <div class="card table-scroll">
      <table class="table">
        <thead>
          <tr>
            <th>Name</th>
            <th class="only-wide">Scopes</th>
            <th class="only-wide">Made</th>
            <th>Last used</th>
            <th class="only-wide">Expires</th>
            <th>
              <span class="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {tokens.map((token) => (
            <tr key={token.id}>
              <td class="token-name">{token.name}</td>
              <td class="only-wide table-wide quiet" title={token.scopes.join(" ")}>
                {token.scopes.join(" ")}
              </td>
              <td class="only-wide quiet">
                <TimeAgo at={token.createdAt} />
              </td>
              <td class="quiet">
                {token.lastUsedAt ? <TimeAgo at={token.lastUsedAt} /> : "never"}
              </td>
              <td class="only-wide quiet">
                {token.expiresAt ? <TimeAgo at={token.expiresAt} /> : "never"}
              </td>
              <td class="table-number">
                <button
                  type="button"
                  class="link-button link-danger"
                  onClick={() => void revoke(token)}
                >
                  Revoke<span class="visually-hidden"> {token.name}</span>
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
