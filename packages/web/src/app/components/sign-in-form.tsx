import { useSignal } from "@preact/signals"
import { Icon } from "../../ui/icon.tsx"
import { explain } from "../model/explain.ts"
import { signIn } from "../state/sign-in.ts"

/** Asks for a token. It goes to the server once, is exchanged for a cookie, and is kept nowhere. */
export function SignInForm({ onDone }: { onDone?: () => void }) {
  const token = useSignal("")
  const state = useSignal<{ readonly isBusy: boolean; readonly failure?: string }>({ isBusy: false })
  const submit = async (event: Event) => {
    event.preventDefault()
    state.value = { isBusy: true }
    try {
      await signIn({ token: token.value.trim() })
      token.value = ""
      state.value = { isBusy: false }
      onDone?.()
    } catch (error) {
      state.value = { isBusy: false, failure: explain(error) }
    }
  }
  return (
    <form class="sign-in-form" onSubmit={submit}>
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
      <p class="field-error" role="alert">
        {state.value.failure}
      </p>
      <button type="submit" class="button" disabled={state.value.isBusy}>
        {state.value.isBusy ? "Signing in…" : "Sign in"}
      </button>
    </form>
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
      The server prints a sign-in link when it starts on your own machine. From a terminal that is signed in, <code>hamlet open</code> makes
      another one.
    </p>
  )
}
