import { useSignal } from "@preact/signals"
import { CopyButton } from "../../ui/copy-button.tsx"
import { useTitle } from "../../ui/page-states.tsx"
import { api } from "../api.ts"
import { currentLocation, navigate } from "../frame/location.ts"
import { Button } from "../parts/buttons/button.tsx"
import { Form } from "../parts/forms/form.tsx"
import { currentUser } from "../session/session.ts"
import { signIn } from "../session/sign-in.ts"
import { ProviderButton } from "../session/sign-in-form.tsx"
import { SignInPage, UsernameField } from "../session/sign-in-page.tsx"

/** Accepts an invitation: the user chooses a name, is signed in, and sees the first token once. */
export function Page() {
  useTitle("Invitation")
  const code = useSignal(new URLSearchParams(currentLocation.value.hash.slice(1)).get("code"))
  const token = useSignal<string | undefined>(undefined)
  return (
    <SignInPage>
      {token.value !== undefined ? (
        <Welcome token={token.value} />
      ) : code.value === null ? (
        <p role="alert">This link is incomplete: it ends with a code after #. Ask for it again.</p>
      ) : (
        <Accept
          code={code.value}
          onDone={(created) => {
            // The code is used: it must not stay in the history.
            history.replaceState(null, "", location.pathname)
            token.value = created
          }}
        />
      )}
    </SignInPage>
  )
}

function Accept({ code, onDone }: { code: string; onDone: (token: string) => void }) {
  const username = useSignal("")
  const me = currentUser()
  const submit = async () => {
    const created = await api.acceptInvitation({ code, username: username.value.trim() })
    await signIn({ token: created.token })
    onDone(created.token)
  }
  return (
    <>
      <h1>Choose a name</h1>
      <p>
        You are invited to this server.
        {me
          ? ` You are signed in as ${me.username}: accepting creates another account and signs you in to it.`
          : ""}
      </p>
      <ProviderButton to="/" invitation={code} />
      <Form onSubmit={submit} label="Accept" busyLabel="Accepting…" kind="sign-in-form">
        <UsernameField username={username} />
      </Form>
    </>
  )
}

function Welcome({ token }: { token: string }) {
  return (
    <>
      <h1>Welcome, {currentUser()?.username}</h1>
      <p>
        You are signed in. This is your first token, for <code>hamlet login</code> and for other
        browsers. It is shown only once: store it.
      </p>
      <p>
        <code class="token">{token}</code> <CopyButton text={token} label="Copy the token" />
      </p>
      <div class="sign-in-form">
        <Button onClick={() => navigate("/", { replace: true })}>Continue</Button>
      </div>
    </>
  )
}
