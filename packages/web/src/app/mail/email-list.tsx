import type { Output } from "@hamlet/contract/client"
import { toBytes } from "../../ui/units.ts"
import { api } from "../api.ts"
import { showDone } from "../frame/toast-list.ts"
import { DataTable } from "../parts/data-table.tsx"
import { Section } from "../parts/section.tsx"
import { TimeAgo } from "../parts/time-ago.tsx"
import { useAction } from "../parts/use-action.ts"

type Email = Output<"getRun">["emails"][number]

const statuses = {
  waiting: ["Waiting", "queued"],
  sent: ["Sent", "succeeded"],
  failed: ["Failed", "failed"],
} as const

/** The mails that a run sent. */
export function EmailList(props: { emails: readonly Email[]; onChange: () => void }) {
  return (
    <Section title="Outgoing mail">
      <EmailTable {...props} />
    </Section>
  )
}

/** Mails that vals sent, with what became of them. `onChange` is called when one is sent again. */
export function EmailTable(props: {
  emails: readonly Email[]
  /** Whether each row names the val, with a link to the run. */
  hasVal?: boolean
  onChange: () => void
}) {
  const { emails, hasVal = false, onChange } = props
  return (
    <DataTable
      columns={{
        Status: "",
        To: "",
        ...(hasVal ? { From: "only-wide" } : {}),
        Size: "only-wide table-number",
        Time: "only-wide table-number",
        Actions: "hidden",
      }}
      isScrolling
    >
      {emails.map((email) => (
        <Row key={email.id} email={email} hasVal={hasVal} onChange={onChange} />
      ))}
    </DataTable>
  )
}

interface RowProps {
  readonly email: Email
  readonly hasVal: boolean
  readonly onChange: () => void
}

function Row({ email, hasVal, onChange }: RowProps) {
  const { status, to, from, subject, error, attempts, bytes, createdAt } = email
  const { isBusy, run } = useAction()
  const [label, kind] = statuses[status]
  const resend = async () => {
    await api.resendEmail({ email_id: email.id })
    showDone("The mail is sent again")
    onChange()
  }
  return (
    <tr>
      <td>
        <span class={`badge status status-${kind}`}>{label}</span>
      </td>
      <td class="table-wide" title={`From ${from} to ${to.join(", ")}`}>
        <strong>{subject || "(no subject)"}</strong> <span class="quiet">to {to.join(", ")}</span>
        {error === null ? null : (
          <span class="run-reason">
            {error} ({attempts === 1 ? "1 attempt" : `${attempts} attempts`})
          </span>
        )}
      </td>
      {hasVal ? (
        <td class="only-wide quiet">
          <Origin email={email} />
        </td>
      ) : null}
      <td class="only-wide table-number quiet">{toBytes(bytes)}</td>
      <td class="only-wide table-number quiet">
        <MailTime email={email} createdAt={createdAt} />
      </td>
      <td class="table-number">
        {status === "failed" ? (
          <button
            type="button"
            class="link-button"
            disabled={isBusy}
            onClick={() => void run(resend)}
          >
            Send again<span class="visually-hidden"> {subject}</span>
          </button>
        ) : null}
      </td>
    </tr>
  )
}

const kinds = { val: "A val", api: "API", notice: "Notice", confirmation: "Confirmation" } as const

/** What sent the mail; a link to its run as long as that is stored. */
function Origin({ email: { kind, val, runId } }: { email: Email }) {
  const name = val?.name ?? kinds[kind]
  return runId === null ? name : <a href={`/runs/${runId}`}>{name}</a>
}

function MailTime({
  email: { nextAttemptAt, attempts },
  createdAt,
}: {
  email: Email
  createdAt: string
}) {
  if (nextAttemptAt === null || attempts === 0) return <TimeAgo at={createdAt} />
  return (
    <>
      next attempt <TimeAgo at={nextAttemptAt} />
    </>
  )
}
