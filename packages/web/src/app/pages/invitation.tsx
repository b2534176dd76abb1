import { useSignal } from "@preact/signals"
import { CopyButton } from "../../ui/copy-button.tsx"
import { Icon } from "../../ui/icon.tsx"
import { api } from "../api.ts"
import { navigate, place } from "../frame/location.ts"
import { useTitle } from "../frame/page-title.tsx"
import { Field } from "../parts/field.tsx"
import { Form } from "../parts/form.tsx"
import { whoIsHere } from "../session/session.ts"
import { signIn } from "../session/sign-in.ts"

/**
 * Where an invitation leads: a person chooses a name, is signed in, and sees their first token
 * once.
 */
export function Page() {
  useTitle("Invitation")
  const code = useSignal(new URLSearchParams(place.value.hash.slice(1)).get("code"))
  const token = useSignal<string | undefined>(undefined)
  return (
    <main class="sign-in">
      <div class="sign-in-card">
        <a class="brand brand-large" href="/">
          <Icon name="mark" />
          <span>Hamlet</span>
        </a>
        {token.value !== undefined ? (
          <Welcome token={token.value} />
        ) : code.value === null ? (
          <p role="alert">
            This is not the whole link: it ends with a code after #. Ask for it again.
          </p>
        ) : (
          <Accept
            code={code.value}
            onDone={(made) => {
              // The code is used up: in the history it would only mislead.
              history.replaceState(null, "", location.pathname)
              token.value = made
            }}
          />
        )}
      </div>
    </main>
  )
}

function Accept({ code, onDone }: { code: string; onDone: (token: string) => void }) {
  const username = useSignal("")
  const me = whoIsHere()
  const submit = async () => {
    const made = await api.acceptInvitation({ code, username: username.value.trim() })
    await signIn({ token: made.token })
    onDone(made.token)
  }
  return (
    <>
      <h1>Choose a name</h1>
      <p>
        You are invited to this server.
        {me
          ? ` You are signed in as ${me.username}: accepting makes another account, and signs you in as that one.`
          : ""}
      </p>
      <Form onSubmit={submit} label="Accept" busyLabel="Accepting…" kind="sign-in-form">
        <Field
          label="Name"
          hint="Letters, digits and _, up to 30. It becomes part of the addresses of your vals and cannot be changed."
        >
          <input
            class="input"
            name="username"
            autocomplete="username"
            required
            maxLength={30}
            pattern="[a-zA-Z][a-zA-Z0-9_]*"
            spellcheck={false}
            value={username.value}
            onInput={(event) => {
              username.value = event.currentTarget.value
            }}
          />
        </Field>
      </Form>
    </>
  )
}

function Welcome({ token }: { token: string }) {
  return (
    <>
      <h1>Welcome, {whoIsHere()?.username}</h1>
      <p>
        You are signed in. This is your first token, for <code>hamlet login</code> and for other
        browsers. It is shown only now: keep it.
      </p>
      <p>
        <code class="token">{token}</code> <CopyButton text={token} label="Copy the token" />
      </p>
      <div class="sign-in-form">
        <button type="button" class="button" onClick={() => navigate("/", { replace: true })}>
          Go on
        </button>
      </div>
    </>
  )
}
