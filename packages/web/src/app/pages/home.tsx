import { Landing } from "../components/home/landing.tsx"
import { MyHome } from "../components/home/my-home.tsx"
import { useTitle } from "../components/page-title.tsx"
import { session } from "../state/session.ts"

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
