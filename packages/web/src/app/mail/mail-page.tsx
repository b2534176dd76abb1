import type { Item } from "@hamlet/contract/client"
import { EmptyState } from "../../ui/page-states.tsx"
import { useTitle } from "../../ui/page-title.ts"
import { LoadedPages, NotFound } from "../data/loaded.tsx"
import { usePages } from "../data/pages.ts"
import { usePoll } from "../data/poll.ts"
import { currentLocation, setQuery } from "../frame/location.ts"
import type { PageProps } from "../page-props.ts"
import { StatusBadge } from "../parts/badges.tsx"
import { DataTable } from "../parts/data-table.tsx"
import { LinkTabs } from "../parts/link-tabs.tsx"
import { Segments } from "../parts/segments.tsx"
import { TimeAgo } from "../parts/time-ago.tsx"
import { EmailTable } from "./email-list.tsx"

const pollMs = 5_000

const sections = {
  "": { label: "Outgoing", View: Outgoing },
  incoming: { label: "Incoming", View: Incoming },
} as const

/** The mail that the vals of the account have sent and received. */
export function Page({ section = "" }: PageProps) {
  useTitle("Mail")
  if (!Object.hasOwn(sections, section)) return <NotFound />
  const { View } = sections[section as keyof typeof sections]
  const toHref = (name: string) => (name === "" ? "/mail" : `/mail/${name}`)
  return (
    <>
      <div class="page-head">
        <h1>Mail</h1>
      </div>
      <LinkTabs
        label="Mail"
        current={toHref(section)}
        tabs={Object.entries(sections).map(([name, { label }]) => ({ href: toHref(name), label }))}
      />
      <div class="mail-part">
        <View />
      </div>
    </>
  )
}

const statuses = [
  { name: "all", label: "All" },
  { name: "waiting", label: "Waiting" },
  { name: "sent", label: "Sent" },
  { name: "failed", label: "Failed" },
] as const

function Outgoing() {
  const { query } = currentLocation.value
  const { name } = statuses.find(({ name }) => name === query.get("status")) ?? statuses[0]
  const emails = usePages("listMyEmails", name === "all" ? {} : { status: name })
  usePoll(pollMs, emails.refresh)
  return (
    <>
      <div class="toolbar">
        <Segments
          label="Status"
          choices={statuses}
          current={name}
          onChange={(status) => setQuery({ status: status === "all" ? "" : status })}
        />
      </div>
      <LoadedPages
        of={emails}
        rows={5}
        empty={
          <EmptyState icon="mail" title={name === "all" ? "No mail yet" : "No such mail"}>
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
  usePoll(pollMs, runs.refresh)
  return (
    <LoadedPages
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
    >
      {(items) => (
        <DataTable columns={{ Outcome: "", Mail: "", Time: "table-number" }}>
          {items.map((run) => (
            <IncomingRow key={run.id} run={run} />
          ))}
        </DataTable>
      )}
    </LoadedPages>
  )
}

function IncomingRow({ run }: { run: Item<"listMyRuns"> }) {
  const { id, status, val, runStartAt, mail } = run
  return (
    <tr>
      <td>
        <StatusBadge status={status} />
      </td>
      <td class="table-wide">
        <a class="table-name row-link" href={`/runs/${id}`}>
          {mail?.subject || val.name}
        </a>{" "}
        {mail ? (
          <span class="quiet">
            {mail.isTest ? "test message" : `from ${mail.from}`} to {val.name}
          </span>
        ) : null}
      </td>
      <td class="table-number quiet">
        <TimeAgo at={runStartAt} />
      </td>
    </tr>
  )
}
