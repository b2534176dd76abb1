import { useSignal } from "@preact/signals"
import { bindText } from "../../ui/bind.ts"
import { Icon } from "../../ui/icon.tsx"
import { Button } from "../parts/buttons/button.tsx"
import { Form } from "../parts/forms/form.tsx"
import { settings } from "../settings.ts"
import { visitProvider } from "./provider.ts"
import { signIn } from "./sign-in.ts"

/** Asks for a token. The server exchanges it for a cookie; it is not stored. */
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
          {...bindText(token)}
        />
      </label>
    </Form>
  )
}

/** Replaces a page that needs a session, until the user has signed in. */
export function SignInFirst() {
  return (
    <div class="sign-in-card">
      <span class="empty-icon">
        <Icon name="signIn" />
      </span>
      <h1>Sign in to see this</h1>
      <ProviderButton to={location.pathname + location.search} />
      <SignInForm />
      <SignInHelp />
    </div>
  )
}

/** How to get a sign-in link. */
export function SignInHelp() {
  return (
    <p class="quiet">
      The server prints a sign-in link when it starts on your own machine. In a signed-in terminal,
      <code>hamlet open</code> creates another one.
    </p>
  )
}

/** Signs in with the provider of this server, if it has one. */
export function ProviderButton(props: {
  /** The path to continue with. */
  readonly to: string
  readonly invitation?: string | undefined
}) {
  const { to, invitation } = props
  const { providerName } = settings
  if (providerName === null) return null
  return (
    <div class="sign-in-provider">
      <Button action={() => visitProvider({ purpose: "sign-in", to, invitation })}>
        {invitation === undefined ? "Sign in" : "Accept"} with {providerName}
      </Button>
      <p class="quiet">or</p>
    </div>
  )
}
