import { useTitle } from "../../ui/page-title.ts"
import { api } from "../api.ts"
import { Loaded } from "../data/loaded.tsx"
import { useResource } from "../data/resource.ts"
import type { PageProps } from "../page-props.ts"
import { session } from "../session/session.ts"
import { ValView } from "../val/val-view.tsx"

/** The page of a val. */
export function Page({ username = "", valName = "", tab = "" }: PageProps) {
  const tabName = tab.charAt(0).toUpperCase() + tab.slice(1)
  useTitle(`${username}/${valName}${tab === "" ? "" : ` · ${tabName}`}`)
  // After signing in, a user may see more. After the session has ended, the val and the input stay.
  const viewer =
    session.value.kind === "signed-in" || session.value.kind === "ended" ? session.value.me.id : ""
  const val = useResource(`${username}/${valName} ${viewer}`, (signal) =>
    api.getValByName({ username, val_name: valName }, { signal }),
  )
  return (
    <Loaded of={val}>{(loaded) => <ValView key={loaded.id} loaded={loaded} tab={tab} />}</Loaded>
  )
}
