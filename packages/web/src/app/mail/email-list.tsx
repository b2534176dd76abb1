import type { Output } from "@hamlet/contract/client"
import { toBytes } from "../../ui/units.ts"
import { api } from "../api.ts"
import { showDone } from "../frame/toast-list.ts"
import { Mark } from "../parts/badges.tsx"
import { LinkButton } from "../parts/buttons/link-button.tsx"
import { type Column, DataTable } from "../parts/lists/data-table.tsx"
import { TimeAgo } from "../parts/time-ago.tsx"

type Email = Output<"getRun">["emails"][number]

const statuses = {
  waiting: ["Waiting", "queued"],
  sent: ["Sent", "succeeded"],
  failed: ["Failed", "failed"],
} as const

const kinds = { val: "A val", api: "API", notice: "Notice", confirmation: "Confirmation" } as const

const originColumn: Column<Email> = ["From", "only-wide quiet", (email) => <Origin email={email} />]

/** Mails that vals sent, with what became of them. `onChange` is called when one is sent again. */
export function EmailTable(props: {
  readonly emails: readonly Email[]
  /** Whether each row names the val, with a link to the run. */
  readonly hasVal?: boolean
  readonly onChange: () => void
}) {
  const { emails, hasVal = false, onChange } = props
  const resend = async (id: string) => {
    await api.resendEmail({ email_id: id })
    showDone("The mail is sent again")
    onChange()
  }
  const columns: readonly Column<Email>[] = [
    ["Status", "", ({ status }) => <Mark of={statuses[status]} />],
    ["To", "table-wide", (email) => <Receiver email={email} />],
    ...(hasVal ? [originColumn] : []),
    ["Size", "only-wide table-number quiet", ({ bytes }) => toBytes(bytes)],
    ["Time", "only-wide table-number quiet", (email) => <MailTime email={email} />],
    [
      "Actions",
      "table-number",
      ({ id, status, subject }) =>
        status === "failed" ? (
          <LinkButton about={subject} action={() => resend(id)}>
            Send again
          </LinkButton>
        ) : null,
    ],
  ]
  return <DataTable rows={emails} columns={columns} isScrolling />
}

function Receiver({ email: { from, to, subject, error, attempts } }: { email: Email }) {
  return (
    <span title={`From ${from} to ${to.join(", ")}`}>
      <strong>{subject || "(no subject)"}</strong> <span class="quiet">to {to.join(", ")}</span>
      {error === null ? null : (
        <span class="small run-reason">
          {error} ({attempts === 1 ? "1 attempt" : `${attempts} attempts`})
        </span>
      )}
    </span>
  )
}

/** What sent the mail; a link to its run as long as that is stored. */
function Origin({ email: { kind, val, runId } }: { email: Email }) {
  const name = val?.name ?? kinds[kind]
  return runId === null ? name : <a href={`/runs/${runId}`}>{name}</a>
}

function MailTime({ email: { nextAttemptAt, attempts, createdAt } }: { email: Email }) {
  if (nextAttemptAt === null || attempts === 0) return <TimeAgo at={createdAt} />
  return (
    <>
      next attempt <TimeAgo at={nextAttemptAt} />
    </>
  )
}
