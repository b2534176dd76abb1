import type { Item, Output } from "@hamlet/contract/client"
import { useSignal } from "@preact/signals"
import { setTo } from "../../ui/bind.ts"
import { CopyButton } from "../../ui/copy-button.tsx"
import { Icon } from "../../ui/icon.tsx"
import { EmptyState } from "../../ui/page-states.tsx"
import { api } from "../api.ts"
import { LoadedPages } from "../data/loaded.tsx"
import { usePages } from "../data/pages.ts"
import { showDone } from "../frame/toast-list.ts"
import { DataTable } from "../parts/data-table.tsx"
import { TimeAgo } from "../parts/time-ago.tsx"
import { useAction } from "../parts/use-action.ts"
import { NewToken } from "./new-token.tsx"

/** Tokens that act for the user elsewhere: in a terminal, in CI, in other programs. */
export function Tokens() {
  const tokens = usePages("listTokens", {})
  const isFormOpen = useSignal(false)
  const created = useSignal<Output<"createToken"> | undefined>(undefined)
  return (
    <>
      <div class="toolbar">
        <p class="quiet">
          A token acts for you within its scopes. It is shown once, when it is created.
        </p>
        <span class="toolbar-push" />
        <button type="button" class="button" onClick={setTo(isFormOpen, true)}>
          <Icon name="plus" /> New token
        </button>
      </div>
      {created.value ? <CreatedToken token={created.value} /> : null}
      {isFormOpen.value ? (
        <NewToken
          onClose={setTo(isFormOpen, false)}
          onDone={(token) => {
            isFormOpen.value = false
            created.value = token
            tokens.reload()
          }}
        />
      ) : null}
      <LoadedPages
        of={tokens}
        rows={3}
        empty={
          <EmptyState icon="key" title="No tokens">
            <p>Create one to use the command line or the API.</p>
          </EmptyState>
        }
      >
        {(items) => <TokenTable tokens={items} onChange={tokens.reload} />}
      </LoadedPages>
    </>
  )
}

function CreatedToken({ token: { name, token } }: { token: Output<"createToken"> }) {
  return (
    <div class="made card card-pad" role="status">
      <p>
        <strong>{name}</strong> is created. Copy it now: it is not shown again.
      </p>
      <p class="made-text">
        <code>{token}</code>
        <CopyButton text={token} label="Copy the token" />
      </p>
    </div>
  )
}

function TokenTable(props: { tokens: readonly Item<"listTokens">[]; onChange: () => void }) {
  const { run } = useAction()
  const revoke = ({ id, name }: Item<"listTokens">) =>
    run(async () => {
      if (!confirm(`Revoke "${name}"? Programs that use it stop working at once.`)) return
      await api.revokeToken({ token_id: id })
      showDone(`${name} is revoked`)
      props.onChange()
    })
  const toAgoOrNever = (at: string | null) => (at ? <TimeAgo at={at} /> : "never")
  return (
    <DataTable
      columns={{
        Name: "",
        Scopes: "only-wide",
        Created: "only-wide",
        "Last used": "",
        Expires: "only-wide",
        Actions: "hidden",
      }}
      isScrolling
    >
      {props.tokens.map((token) => (
        <tr key={token.id}>
          <td class="token-name">{token.name}</td>
          <td class="only-wide table-wide quiet" title={token.scopes.join(" ")}>
            {token.scopes.join(" ")}
          </td>
          <td class="only-wide quiet">{toAgoOrNever(token.createdAt)}</td>
          <td class="quiet">{toAgoOrNever(token.lastUsedAt)}</td>
          <td class="only-wide quiet">{toAgoOrNever(token.expiresAt)}</td>
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
    </DataTable>
  )
}
