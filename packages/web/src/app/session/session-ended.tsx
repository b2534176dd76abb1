import { sayDone } from "../frame/toast-list.ts"
import { Dialog } from "../parts/dialog.tsx"
import { session } from "./session.ts"
import { SignInForm, SignInHelp } from "./sign-in-form.tsx"

/**
 * When the session has ended while somebody was at work: signs in over the page, so that what was
 * typed is still there.
 */
export function SessionEnded() {
  const { value } = session
  if (value.kind !== "ended") return null
  const giveUp = () => {
    session.value = { kind: "signed-out" }
  }
  return (
    <Dialog title="You have been signed out" onClose={giveUp}>
      <p>
        The session of {value.me.username} has ended. Sign in again to go on; nothing on this page
        is lost.
      </p>
      <SignInForm onDone={() => sayDone("Signed in again")} />
      <SignInHelp />
    </Dialog>
  )
}
