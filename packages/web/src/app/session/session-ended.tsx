import { setTo } from "../../ui/bind.ts"
import { Dialog } from "../../ui/dialog.tsx"
import { showDone } from "../frame/toast-list.ts"
import { session } from "./session.ts"
import { SignInForm, SignInHelp } from "./sign-in-form.tsx"

/** Asks to sign in again when the session has ended. It covers the page, so that no input is lost. */
export function SessionEnded() {
  const { value } = session
  if (value.kind !== "ended") return null
  return (
    <Dialog title="You have been signed out" onClose={setTo(session, { kind: "signed-out" })}>
      <p>
        The session of {value.me.username} has ended. Sign in again to continue; nothing on this
        page is lost.
      </p>
      <SignInForm onDone={() => showDone("Signed in again")} />
      <SignInHelp />
    </Dialog>
  )
}
