import { api } from "../api.ts"
import { MoreButton } from "../data/more-button.tsx"
import { Bars, EmptyState, Loaded } from "../data/page-states.tsx"
import { usePages } from "../data/pages.ts"
import { useResource } from "../data/resource.ts"
import { useTitle } from "../frame/page-title.tsx"
import type { PageProps } from "../page-props.ts"
import { Avatar } from "../parts/avatar.tsx"
import { TimeAgo } from "../parts/time-ago.tsx"
import { ValList } from "../parts/val-list.tsx"

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
