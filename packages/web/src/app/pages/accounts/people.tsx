import type { Item } from "@hamlet/contract/client"
import { useTitle } from "../../../ui/page-title.ts"
import { LoadedPages, NotFound } from "../../data/loaded.tsx"
import { usePages } from "../../data/pages.ts"
import { DataTable } from "../../parts/data-table.tsx"
import { Section } from "../../parts/section.tsx"
import { TimeAgo } from "../../parts/time-ago.tsx"
import { Invitations } from "../../people/invitations.tsx"
import { PersonBadge } from "../../people/person-state.tsx"
import { isAdministrator } from "../../session/session.ts"

/** The users of this server, for administrators. */
export function Page() {
  useTitle("People")
  return isAdministrator() ? <People /> : <NotFound />
}

function People() {
  const users = usePages("listUsers", {})
  return (
    <>
      <div class="page-head">
        <h1>People</h1>
      </div>
      <Invitations />
      <Section title="Users">
        <LoadedPages of={users} rows={5} empty={null}>
          {(items) => (
            <DataTable columns={{ Name: "", State: "", Email: "only-wide", Joined: "only-wide" }}>
              {items.map((account) => (
                <Row key={account.id} account={account} />
              ))}
            </DataTable>
          )}
        </LoadedPages>
      </Section>
    </>
  )
}

function Row({ account }: { account: Item<"listUsers"> }) {
  return (
    <tr>
      <td class="table-wide">
        <a class="table-name row-link" href={`/people/${account.id}`}>
          {account.username}
        </a>
      </td>
      <td>
        <PersonBadge account={account} />
      </td>
      <td class="only-wide quiet">{account.email}</td>
      <td class="only-wide quiet">
        <TimeAgo at={account.createdAt} />
      </td>
    </tr>
  )
}
