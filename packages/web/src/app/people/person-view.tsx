import type { Item } from "@hamlet/contract/client"
import { useSignal } from "@preact/signals"
import { bindText, setTo } from "../../ui/bind.ts"
import { Dialog } from "../../ui/dialog.tsx"
import { Bars } from "../../ui/page-states.tsx"
import { UsageMeters } from "../account/usage.tsx"
import { api } from "../api.ts"
import { Loaded } from "../data/loaded.tsx"
import { useResource } from "../data/resource.ts"
import { showDone } from "../frame/toast-list.ts"
import { Field } from "../parts/field.tsx"
import { Form } from "../parts/form.tsx"
import { Section } from "../parts/section.tsx"
import { TimeAgo } from "../parts/time-ago.tsx"
import { useAction } from "../parts/use-action.ts"
import { currentUser } from "../session/session.ts"
import { PersonBadge } from "./person-state.tsx"
import { QuotaFields, type Quotas, toQuotas, useQuotaTexts } from "./quota-fields.tsx"

type Account = Item<"listUsers">

/** A user as an administrator sees them: state, usage and quotas. */
export function PersonView({ account, onChange }: { account: Account; onChange: () => void }) {
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
  const { isBusy, run } = useAction()
  if (account.id === currentUser()?.id) return null
  const lift = () =>
    run(async () => {
      await api.unsuspendUser({ user_id: account.id })
      showDone(`${account.username} is active again`)
      onChange()
    })
  if (account.suspendedAt !== null)
    return (
      <p>
        <button
          type="button"
          class="button button-quiet"
          disabled={isBusy}
          onClick={() => void lift()}
        >
          Lift the suspension
        </button>
      </p>
    )
  return (
    <p>
      <button type="button" class="button button-danger-quiet" onClick={setTo(isFormOpen, true)}>
        Suspend…
      </button>
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
  return (
    <Dialog title={`Suspend ${username}`} onClose={props.onClose}>
      <p>
        {username} is signed out everywhere, tokens stop working, vals and schedules do not run.
        Nothing is deleted, and you can lift the suspension at any time.
      </p>
      <Form onSubmit={submit} label="Suspend" busyLabel="Suspending…" foot="dialog-foot">
        <Field label="Reason" hint="Optional. It is stored in the audit log.">
          <input class="input" maxLength={500} {...bindText(reason)} />
        </Field>
      </Form>
    </Dialog>
  )
}
