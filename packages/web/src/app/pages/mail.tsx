import { EmptyState } from "../../ui/page-states.tsx"
import { LoadedPages } from "../data/loaded.tsx"
import { usePages } from "../data/pages.ts"
import { usePoll } from "../data/poll.ts"
import { EmailTable } from "../mail/email-list.tsx"
import type { PageProps } from "../page-props.ts"
import { StatusBadge } from "../parts/badges.tsx"
import { readChoice } from "../parts/forms/query-choice.tsx"
import { QuerySegments } from "../parts/forms/segments.tsx"
import { LoadedTable } from "../parts/lists/loaded-table.tsx"
import { SectionsPage } from "../parts/sections-page.tsx"
import { TimeAgo } from "../parts/time-ago.tsx"

const pollMs = 5_000

const sections = {
  "": { label: "Outgoing", View: Outgoing },
  incoming: { label: "Incoming", View: Incoming },
} as const

/** The mail that the vals of the account have sent and received. */
export function Page({ section = "" }: PageProps) {
  return <SectionsPage title="Mail" path="/mail" sections={sections} current={section} />
}

const statuses = [
  { value: "all", label: "All" },
  { value: "waiting", label: "Waiting" },
  { value: "sent", label: "Sent" },
  { value: "failed", label: "Failed" },
] as const

function Outgoing() {
  const { value } = readChoice("status", statuses)
  const emails = usePages("listMyEmails", value === "all" ? {} : { status: value })
  usePoll(pollMs, emails.poll)
  return (
    <>
      <div class="row wrap toolbar">
        <QuerySegments name="status" label="Status" choices={statuses} />
      </div>
      <LoadedPages
        of={emails}
        rows={5}
        empty={
          <EmptyState icon="mail" title={value === "all" ? "No mail yet" : "No such mail"}>
            <p>
              A val sends mail with the function <code>email</code> of <code>std/email</code>.
            </p>
          </EmptyState>
        }
      >
        {(items) => <EmailTable emails={items} hasVal onChange={emails.reload} />}
      </LoadedPages>
    </>
  )
}

function Incoming() {
  const runs = usePages("listMyRuns", { source: ["email"] })
  usePoll(pollMs, runs.poll)
  return (
    <LoadedTable
      of={runs}
      rows={5}
      empty={
        <EmptyState icon="mail" title="No mail has come">
          <p>
            A val of type Email has a mail address. Each mail to it runs the val and is shown here.
          </p>
          <a class="button" href="/new?type=email">
            New email val
          </a>
        </EmptyState>
      }
      columns={[
        ["Outcome", "", ({ status }) => <StatusBadge status={status} />],
        [
          "Mail",
          "table-wide",
          ({ id, val, mail }) => (
            <>
              <a class="table-name row-link" href={`/runs/${id}`}>
                {mail?.subject || val.name}
              </a>{" "}
              {mail ? (
                <span class="quiet">
                  {mail.isTest ? "test message" : `from ${mail.from}`} to {val.name}
                </span>
              ) : null}
            </>
          ),
        ],
        ["Time", "table-number quiet", ({ runStartAt }) => <TimeAgo at={runStartAt} />],
      ]}
    />
  )
}
