import { useTitle } from "../../ui/page-title.ts"
import { Landing } from "../home/landing.tsx"
import { MyHome } from "../home/my-home.tsx"
import { session } from "../session/session.ts"

/** The home page: the user's vals, or the landing page. */
export function Page() {
  useTitle(undefined)
  const { value } = session
  return value.kind === "signed-in" || value.kind === "ended" ? (
    <MyHome me={value.me} />
  ) : (
    <Landing />
  )
}
