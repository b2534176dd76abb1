import { EmptyState, useTitle } from "../../ui/page-states.tsx"
import { api } from "../api.ts"
import { Loaded, LoadedPages } from "../data/loaded.tsx"
import { usePages, withoutTexts } from "../data/pages.ts"
import { useResource } from "../data/resource.ts"
import { OrgPeople } from "../organisations/org-people.tsx"
import type { PageProps } from "../page-props.ts"
import { Avatar } from "../parts/avatar.tsx"
import { ValList } from "../parts/lists/val-list.tsx"
import { Section } from "../parts/section.tsx"
import { TimeAgo } from "../parts/time-ago.tsx"
import { roleIn } from "../session/owners.ts"

/** A user or an organisation, and their vals. */
export function Page({ username = "" }: PageProps) {
  useTitle(username)
  const user = useResource(username, (signal) => api.getUserByName({ username }, { signal }))
  return (
    <Loaded of={user}>
      {({ id, type, username, bio, createdAt }) => (
        <>
          <div class="user-head">
            <Avatar name={username} size="large" />
            <div>
              <h1>{username}</h1>
              {bio ? <p class="breaks user-bio">{bio}</p> : null}
              <p class="quiet">
                {type === "org" ? "Organisation, created" : "Joined"} <TimeAgo at={createdAt} />
              </p>
            </div>
          </div>
          <UserVals key={id} userId={id} username={username} />
          {type === "org" && roleIn(id) !== undefined ? <OrgPeople org={{ id, username }} /> : null}
        </>
      )}
    </Loaded>
  )
}

function UserVals({ userId, username }: { userId: string; username: string }) {
  const vals = usePages("listUserVals", { user_id: userId, ...withoutTexts })
  return (
    <Section title="Vals">
      <LoadedPages
        of={vals}
        rows={5}
        empty={
          <EmptyState icon="globe" title="No vals">
            <p>{username} has no vals that you can see.</p>
          </EmptyState>
        }
      >
        {(items) => <ValList vals={items} />}
      </LoadedPages>
    </Section>
  )
}
