import { LoadedPages } from "../data/loaded.tsx"
import { usePages } from "../data/pages.ts"
import { Section } from "../parts/section.tsx"
import { type Membership, roleIn } from "../session/owners.ts"

const shownMax = 20

/** The people in an organisation, for those who belong to it. */
export function OrgPeople({ org }: { org: Membership["org"] }) {
  const members = usePages("listOrgMembers", { org_id: org.id }, shownMax)
  const label = roleIn(org.id) === "owner" ? "Manage" : "All"
  return (
    <Section
      title="People"
      end={
        <a href={`/orgs/${org.username}`}>
          {label} <span class="visually-hidden">people in {org.username}</span>
        </a>
      }
    >
      <LoadedPages of={members} rows={2} empty={null}>
        {(items) => (
          <ul class="card">
            {items
              .filter(({ pending }) => !pending)
              .map(({ user, role }) => (
                <li key={user.id} class="row ruled session-row">
                  <a href={`/u/${user.username}`}>{user.username}</a>
                  <span class="quiet">{role}</span>
                </li>
              ))}
          </ul>
        )}
      </LoadedPages>
    </Section>
  )
}
