import { useSignal } from "@preact/signals"
import { Icon } from "../../ui/icon.tsx"
import { Form } from "../parts/form.tsx"
import { signIn } from "./sign-in.ts"

/** Asks for a token. It goes to the server once, is exchanged for a cookie, and is kept nowhere. */
export function SignInForm({ onDone }: { onDone?: () => void }) {
  const token = useSignal("")
  const submit = async () => {
    await signIn({ token: token.value.trim() })
    token.value = ""
    onDone?.()
  }
  return (
    <Form onSubmit={submit} label="Sign in" busyLabel="Signing in…" kind="sign-in-form">
      <label class="field">
        <span class="field-label">Token</span>
        <input
          class="input"
          type="password"
          name="token"
          autocomplete="current-password"
          required
          spellcheck={false}
          value={token.value}
          onInput={(event) => {
            token.value = event.currentTarget.value
          }}
        />
      </label>
    </Form>
  )
}

/** In the place of a page that is for people who are signed in. After it, the page is there. */
export function SignInFirst() {
  return (
    <div class="sign-in-card">
      <span class="empty-icon">
        <Icon name="lock" />
      </span>
      <h1>Sign in to see this</h1>
      <SignInForm />
      <SignInHelp />
    </div>
  )
}

/** Where the ways in come from. */
export function SignInHelp() {
  return (
    <p class="quiet">
      The server prints a sign-in link when it starts on your own machine. From a terminal that is
      signed in, <code>hamlet open</code> makes another one.
    </p>
  )
}
