import type { Output } from "@hamlet/contract/client"
import { useSignal } from "@preact/signals"
import { bindChoice, bindText, setTo } from "../../ui/bind.ts"
import { EmptyState } from "../../ui/page-states.tsx"
import { api } from "../api.ts"
import { usePages } from "../data/pages.ts"
import { showDone } from "../frame/toast-list.ts"
import { Button } from "../parts/buttons/button.tsx"
import { MadeBox } from "../parts/buttons/copy-text.tsx"
import { LinkButton } from "../parts/buttons/link-button.tsx"
import { Field, Select } from "../parts/forms/field.tsx"
import { FormDialog } from "../parts/forms/form-dialog.tsx"
import { LoadedTable } from "../parts/lists/loaded-table.tsx"
import { TimeAgo } from "../parts/time-ago.tsx"
import { acting, canChangeOwn } from "../session/owners.ts"
import { type Scope, ScopeList } from "./scope-list.tsx"

const toAgoOrNever = (at: string | null) => (at ? <TimeAgo at={at} /> : "never")

/** Tokens that act for the user elsewhere: in a terminal, in CI, in other programs. */
export function Tokens() {
  const tokens = usePages("listTokens", {})
  const isFormOpen = useSignal(false)
  const created = useSignal<Output<"createToken"> | undefined>(undefined)
  const revoke = async (id: string, name: string) => {
    if (!confirm(`Revoke "${name}"? Programs that use it stop working at once.`)) return
    await api.revokeToken({ token_id: id })
    showDone(`${name} is revoked`)
    tokens.reload()
  }
  return (
    <>
      <div class="row wrap toolbar">
        <p class="quiet">
          A token acts for you within its scopes. It is shown once, when it is created.
        </p>
        <span class="push" />
        <Button
          icon="plus"
          disabled={!canChangeOwn()}
          {...(canChangeOwn()
            ? {}
            : { title: "Viewers of an organisation cannot make tokens for it" })}
          onClick={setTo(isFormOpen, true)}
        >
          New token
        </Button>
      </div>
      {created.value ? (
        <MadeBox text={created.value.token} label="Copy the token">
          <strong>{created.value.name}</strong> is created. Copy it now: it is not shown again.
        </MadeBox>
      ) : null}
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
      <LoadedTable
        of={tokens}
        rows={3}
        empty={
          <EmptyState icon="key" title="No tokens">
            <p>Create one to use the command line or the API.</p>
          </EmptyState>
        }
        columns={[
          ["Name", "token-name breaks", ({ name }) => name],
          [
            "Scopes",
            "only-wide table-wide quiet",
            ({ scopes }) => <span title={scopes.join(" ")}>{scopes.join(" ")}</span>,
          ],
          ["Created", "only-wide quiet", ({ createdAt }) => toAgoOrNever(createdAt)],
          ["Last used", "quiet", ({ lastUsedAt }) => toAgoOrNever(lastUsedAt)],
          ["Expires", "only-wide quiet", ({ expiresAt }) => toAgoOrNever(expiresAt)],
          [
            "Actions",
            "table-number",
            ({ id, name }) => (
              <LinkButton isDanger about={name} onClick={() => revoke(id, name)}>
                Revoke
              </LinkButton>
            ),
          ],
        ]}
        isScrolling
      />
    </>
  )
}

const lifetimes = [
  { value: "", label: "Never" },
  { value: "7", label: "In 7 days" },
  { value: "30", label: "In 30 days" },
  { value: "90", label: "In 90 days" },
  { value: "365", label: "In a year" },
] as const

function NewToken(props: {
  readonly onClose: () => void
  readonly onDone: (token: Output<"createToken">) => void
}) {
  const name = useSignal("")
  const chosen = useSignal<ReadonlySet<Scope>>(
    new Set(["val:read", "val:write", "run:read", "run:write", "user:read"]),
  )
  const days = useSignal<(typeof lifetimes)[number]["value"]>("90")
  const orgName = acting.value?.org.username
  const create = async () => {
    const lifetimeMs = Number(days.value) * 86_400_000
    const expiresAt = days.value === "" ? null : new Date(Date.now() + lifetimeMs).toISOString()
    const input = { name: name.value.trim(), scopes: [...chosen.value], expiresAt }
    props.onDone(await api.createToken(input))
  }
  return (
    <FormDialog
      title="New token"
      {...(orgName === undefined ? {} : { intro: <OrgTokenNote name={orgName} /> })}
      onClose={props.onClose}
      onSubmit={create}
      label="Create"
      isReady={chosen.value.size > 0}
    >
      <Field label="Name" hint="Its purpose, so that you recognize it later.">
        <input class="input" required maxLength={100} autocomplete="off" {...bindText(name)} />
      </Field>
      <ScopeList label="Scopes" chosen={chosen} />
      <Select label="Expires" choices={lifetimes} {...bindChoice(days)} />
    </FormDialog>
  )
}

/** A token that is made for an organisation is limited to it. */
function OrgTokenNote({ name }: { name: string }) {
  return (
    <p>
      You act for {name}: this token will work for <strong>{name}</strong> only, as long as you
      belong to it. For a token of your own, first choose yourself in the header.
    </p>
  )
}
