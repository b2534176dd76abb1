import type { Item } from "@hamlet/contract/client"
import { useSignal } from "@preact/signals"
import { bindText, setTo } from "../../../ui/bind.ts"
import { Bars, useTitle } from "../../../ui/page-states.tsx"
import { UsageMeters } from "../../account/usage.tsx"
import { api } from "../../api.ts"
import { Loaded, NotFound } from "../../data/loaded.tsx"
import { useResource } from "../../data/resource.ts"
import { showDone } from "../../frame/toast-list.ts"
import type { PageProps } from "../../page-props.ts"
import { Button } from "../../parts/buttons/button.tsx"
import { Field } from "../../parts/forms/field.tsx"
import { Form } from "../../parts/forms/form.tsx"
import { FormDialog } from "../../parts/forms/form-dialog.tsx"
import { Section } from "../../parts/section.tsx"
import { TimeAgo } from "../../parts/time-ago.tsx"
import { PersonBadge } from "../../people/person-state.tsx"
import { QuotaFields, type Quotas, toQuotas, useQuotaTexts } from "../../people/quota-fields.tsx"
import { currentUser, isAdministrator } from "../../session/session.ts"

type Account = Item<"listUsers">

/** One user, for administrators. */
export function Page({ userId = "" }: PageProps) {
  return isAdministrator() ? <Person userId={userId} /> : <NotFound />
}

function Person({ userId }: { userId: string }) {
  const account = useResource(userId, (signal) =>
    api.getUserAccount({ user_id: userId }, { signal }),
  )
  useTitle(account.state.kind === "ready" ? account.state.data.username : "People")
  return (
    <Loaded of={account}>
      {(data) => (
        <>
          <div class="row wrap page-head">
            <h1>
              <a href="/people">People</a> / {data.username}
            </h1>
          </div>
          <PersonView account={data} onChange={account.reload} />
        </>
      )}
    </Loaded>
  )
}

/** A user as an administrator sees them: state, usage and quotas. */
function PersonView({ account, onChange }: { account: Account; onChange: () => void }) {
  const user_id = account.id
  const usage = useResource(`usage ${user_id}`, (signal) =>
    api.getUserUsage({ user_id }, { signal }),
  )
  const quotas = useResource(`quotas ${user_id}`, (signal) =>
    api.getUserQuotas({ user_id }, { signal }),
  )
  return (
    <>
      <p>
        <PersonBadge account={account} />{" "}
        <span class="quiet">
          {account.email ?? "no email address"}, joined <TimeAgo at={account.createdAt} />.{" "}
          <a href={`/u/${account.username}`}>Public page</a>
        </span>
      </p>
      {account.deletedAt === null ? <State account={account} onChange={onChange} /> : null}
      <Section title="Usage">
        <Loaded of={usage} skeleton={<Bars count={6} />}>
          {(usage) => <UsageMeters usage={usage} />}
        </Loaded>
      </Section>
      <Section title="Quotas">
        <Loaded of={quotas} skeleton={<Bars count={4} />}>
          {(current) => (
            <QuotaForm
              account={account}
              quotas={current}
              onDone={(changed) => {
                quotas.set(changed)
                usage.reload()
              }}
            />
          )}
        </Loaded>
      </Section>
    </>
  )
}

function QuotaForm(props: { account: Account; quotas: Quotas; onDone: (quotas: Quotas) => void }) {
  const texts = useQuotaTexts(props.quotas)
  const submit = async () => {
    props.onDone(await api.putUserQuotas({ user_id: props.account.id, ...toQuotas(texts) }))
    showDone("The quotas are saved")
  }
  return (
    <Form onSubmit={submit} label="Save quotas" busyLabel="Saving…">
      <p class="quiet">An empty field means the limit of the server.</p>
      <QuotaFields texts={texts} />
    </Form>
  )
}

function State({ account, onChange }: { account: Account; onChange: () => void }) {
  const isFormOpen = useSignal(false)
  if (account.id === currentUser()?.id) return null
  const lift = async () => {
    await api.unsuspendUser({ user_id: account.id })
    showDone(`${account.username} is active again`)
    onChange()
  }
  if (account.suspendedAt !== null)
    return (
      <p>
        <Button kind="quiet" action={lift}>
          Lift the suspension
        </Button>
      </p>
    )
  return (
    <p>
      <Button kind="danger-quiet" onClick={setTo(isFormOpen, true)}>
        Suspend…
      </Button>
      {isFormOpen.value ? (
        <SuspensionForm
          account={account}
          onClose={setTo(isFormOpen, false)}
          onDone={() => {
            isFormOpen.value = false
            onChange()
          }}
        />
      ) : null}
    </p>
  )
}

function SuspensionForm(props: { account: Account; onClose: () => void; onDone: () => void }) {
  const { id, username } = props.account
  const reason = useSignal("")
  const submit = async () => {
    await api.suspendUser({ user_id: id, reason: reason.value.trim() || null })
    showDone(`${username} is suspended`)
    props.onDone()
  }
  const intro = (
    <p>
      {username} is signed out everywhere, tokens stop working, vals and schedules do not run.
      Nothing is deleted, and you can lift the suspension at any time.
    </p>
  )
  return (
    <FormDialog
      title={`Suspend ${username}`}
      intro={intro}
      onClose={props.onClose}
      onSubmit={submit}
      label="Suspend"
      busyLabel="Suspending…"
    >
      <Field label="Reason" hint="Optional. It is stored in the audit log.">
        <input class="input" maxLength={500} {...bindText(reason)} />
      </Field>
    </FormDialog>
  )
}
