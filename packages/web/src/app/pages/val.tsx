import { api } from "../api.ts"
import { Loaded } from "../data/page-states.tsx"
import { useResource } from "../data/resource.ts"
import { useTitle } from "../frame/page-title.tsx"
import type { PageProps } from "../page-props.ts"
import { session } from "../session/session.ts"
import { ValView } from "../val/val-view.tsx"

/** A val's page, the place where people live. */
export function Page({ username = "", valName = "", tab = "" }: PageProps) {
  useTitle(`${username}/${valName}`)
  // Somebody who signs in may see more than before. One whose session has ended still sees what is
  // there, and what was typed.
  const viewer =
    session.value.kind === "signed-in" || session.value.kind === "ended" ? session.value.me.id : ""
  const val = useResource(`${username}/${valName} ${viewer}`, (signal) =>
    api.getValByName({ username, val_name: valName }, { signal }),
  )
  return (
    <Loaded of={val.state} onRetry={val.reload}>
      {(loaded) => <ValView key={loaded.id} loaded={loaded} tab={tab} />}
    </Loaded>
  )
}
