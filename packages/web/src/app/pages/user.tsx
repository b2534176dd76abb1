import { api } from "../api.ts"
import { Avatar } from "../components/avatar.tsx"
import { MoreButton } from "../components/more-button.tsx"
import { Bars, EmptyState, Loaded } from "../components/page-states.tsx"
import { useTitle } from "../components/page-title.tsx"
import { TimeAgo } from "../components/time-ago.tsx"
import { ValList } from "../components/val-list.tsx"
import type { PageProps } from "../page-props.ts"
import { usePages } from "../state/pages.ts"
import { useResource } from "../state/resource.ts"

/** Somebody, and what they have made. */
export function Page({ username = "" }: PageProps) {
  useTitle(username)
  const user = useResource(username, (signal) => api.getUserByName({ username }, { signal }))
  return (
    <Loaded of={user.state} onRetry={user.reload}>
      {({ id, username, bio, createdAt }) => (
        <>
          <div class="user-head">
            <Avatar name={username} size="large" />
            <div>
              <h1>{username}</h1>
              {bio ? <p class="user-bio">{bio}</p> : null}
              <p class="quiet">
                Here since <TimeAgo at={createdAt} />
              </p>
            </div>
          </div>
          <UserVals key={id} userId={id} username={username} />
        </>
      )}
    </Loaded>
  )
}

function UserVals({ userId, username }: { userId: string; username: string }) {
  const vals = usePages("listUserVals", { user_id: userId })
  return (
    <section class="section" aria-labelledby="vals">
      <div class="section-head">
        <h2 id="vals">Vals</h2>
      </div>
      <Loaded of={vals.state} onRetry={vals.reload} skeleton={<Bars count={5} kind="row" />}>
        {({ items }) =>
          items.length > 0 ? (
            <ValList vals={items} />
          ) : (
            <EmptyState icon="globe" title="Nothing to see">
              <p>{username} has no vals that you can see.</p>
            </EmptyState>
          )
        }
      </Loaded>
      <MoreButton list={vals} />
    </section>
  )
}
