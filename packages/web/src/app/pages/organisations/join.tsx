import { useMemo } from "preact/hooks"
import { useTitle } from "../../../ui/page-states.tsx"
import { api } from "../../api.ts"
import { currentLocation, navigate } from "../../frame/location.ts"
import { showJoined } from "../../organisations/answers.tsx"
import { Form } from "../../parts/forms/form.tsx"
import { currentUser, session } from "../../session/session.ts"
import { reloadMemberships } from "../../session/sign-in.ts"
import { ProviderButton, SignInForm, SignInHelp } from "../../session/sign-in-form.tsx"
import { SignInPage } from "../../session/sign-in-page.tsx"

/** Joins an organisation by a link, whose code is after `#` so that it is not logged. */
export function Page() {
  useTitle("Join an organisation")
  const me = currentUser()
  const code = useMemo(readCode, [])
  return (
    <SignInPage title="Join an organisation">
      {code === null ? (
        <p role="alert">This link is incomplete: it ends with a code after #. Ask for it again.</p>
      ) : session.value.kind === "unknown" ? null : me ? (
        <Join code={code} username={me.username} />
      ) : (
        <SignedOut />
      )}
    </SignInPage>
  )
}

/** Where the code waits in this tab while the user signs in elsewhere, at a provider. */
const storageName = "hamlet-join-code"

/** The code of the link. It works once: it does not stay in the history. */
function readCode(): string | null {
  const code = new URLSearchParams(currentLocation.peek().hash.slice(1)).get("code")
  if (code === null) return sessionStorage.getItem(storageName)
  sessionStorage.setItem(storageName, code)
  history.replaceState(null, "", location.pathname)
  return code
}

function Join({ code, username }: { code: string; username: string }) {
  const join = async () => {
    const org = await api.joinOrganisation({ code })
    sessionStorage.removeItem(storageName)
    await reloadMemberships()
    navigate(`/u/${org.username}`, { replace: true })
    showJoined(org.id, org.username)
  }
  return (
    <>
      <p>
        You are invited into an organisation. You see its name after joining, and can leave it at
        any time. You are signed in as <strong>{username}</strong>.
      </p>
      <Form onSubmit={join} label="Join" busyLabel="Joining…" kind="sign-in-form">
        {null}
      </Form>
      <p>
        <a href="/">Not now</a>
      </p>
    </>
  )
}

function SignedOut() {
  return (
    <>
      <p>You are invited into an organisation. Sign in to join it.</p>
      <ProviderButton to="/join" />
      <SignInForm />
      <SignInHelp />
    </>
  )
}
