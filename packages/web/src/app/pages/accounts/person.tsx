import { useTitle } from "../../../ui/page-title.ts"
import { api } from "../../api.ts"
import { Loaded, NotFound } from "../../data/loaded.tsx"
import { useResource } from "../../data/resource.ts"
import type { PageProps } from "../../page-props.ts"
import { PersonView } from "../../people/person-view.tsx"
import { isAdministrator } from "../../session/session.ts"

/** One user, for administrators. */
export function Page({ userId = "" }: PageProps) {
  return isAdministrator() ? <Person userId={userId} /> : <NotFound />
}

function Person({ userId }: { userId: string }) {
  const account = useResource(userId, (signal) =>
    api.getUserAccount({ user_id: userId }, { signal }),
  )
  useTitle(account.state.kind === "ready" ? account.state.data.username : "People")
  return (
    <Loaded of={account}>
      {(data) => (
        <>
          <div class="page-head">
            <h1>
              <a href="/people">People</a> / {data.username}
            </h1>
          </div>
          <PersonView account={data} onChange={account.reload} />
        </>
      )}
    </Loaded>
  )
}
