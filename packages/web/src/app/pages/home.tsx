import { useTitle } from "../frame/page-title.tsx"
import { Landing } from "../home/landing.tsx"
import { MyHome } from "../home/my-home.tsx"
import { session } from "../session/session.ts"

/** Where everybody begins: with one's own vals, or with what others have made. */
export function Page() {
  useTitle(undefined)
  const { value } = session
  return value.kind === "signed-in" || value.kind === "ended" ? (
    <MyHome me={value.me} />
  ) : (
    <Landing />
  )
}
