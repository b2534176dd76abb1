import { useTitle } from "../../../ui/page-states.tsx"
import { NotFound } from "../../data/loaded.tsx"
import { usePages } from "../../data/pages.ts"
import { LoadedTable } from "../../parts/lists/loaded-table.tsx"
import { PageHead } from "../../parts/page-head.tsx"
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
      <PageHead title="People" />
      <Invitations />
      <Section title="Users">
        <LoadedTable
          of={users}
          rows={5}
          empty={null}
          columns={[
            [
              "Name",
              "table-wide",
              ({ id, username }) => (
                <a class="table-name row-link" href={`/people/${id}`}>
                  {username}
                </a>
              ),
            ],
            ["State", "", (account) => <PersonBadge account={account} />],
            ["Email", "only-wide quiet", ({ email }) => email],
            ["Joined", "only-wide quiet", ({ createdAt }) => <TimeAgo at={createdAt} />],
          ]}
        />
      </Section>
    </>
  )
}
