import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { useTitle } from "../../ui/page-states.tsx"
import { api } from "../api.ts"
import { explain } from "../data/explain.ts"
import { currentLocation, navigate } from "../frame/location.ts"
import { Button } from "../parts/buttons/button.tsx"
import { toOwnPath } from "../session/own-path.ts"
import { currentUser, session } from "../session/session.ts"
import { signIn } from "../session/sign-in.ts"
import { ProviderButton, SignInForm, SignInHelp } from "../session/sign-in-form.tsx"
import { SignInPage } from "../session/sign-in-page.tsx"

type Step =
  | { readonly kind: "waiting" | "checking" | "signing-in" }
  | { readonly kind: "confirming"; readonly username: string }
  | { readonly kind: "failed"; readonly message: string }

/** Signs in by a link, whose code is after `#` so that it is not logged, or by a token. */
export function Page() {
  useTitle("Sign in")
  const { query, hash } = currentLocation.value
  const code = new URLSearchParams(hash.slice(1)).get("code")
  const step = useSignal<Step>({ kind: "waiting" })
  const continueTo = () => navigate(toOwnPath(query.get("to")), { replace: true })
  const fail = (error: unknown) => {
    step.value = {
      kind: "failed",
      message: `${explain(error)}. Ask for a new link, or sign in with a token`,
    }
  }
  const checkLink = async (code: string) => {
    step.value = { kind: "checking" }
    const { username } = await api.findSignInLinkOwner({ code })
    step.value = { kind: "confirming", username }
  }
  const confirmLink = () => {
    step.value = { kind: "signing-in" }
    signIn({ code: code ?? "" }).then(continueTo, fail)
  }
  const isKnown = session.value.kind !== "unknown"
  useEffect(() => {
    if (code === null || !isKnown || step.peek().kind !== "waiting") return
    // The code works once: it must not stay in the history.
    history.replaceState(null, "", location.pathname + location.search)
    // An attacker's link opens the attacker's account, and everything typed afterwards would belong
    // to it. So the page names the account, and signs in only when the user confirms.
    checkLink(code).catch(fail)
  }, [code, isKnown])
  return (
    <SignInPage title="Sign in">
      {code !== null && step.value.kind === "confirming" ? (
        <ConfirmLink username={step.value.username} onConfirm={confirmLink} onStay={continueTo} />
      ) : code !== null && step.value.kind !== "failed" ? (
        <p role="status">
          {step.value.kind === "signing-in" ? "Signing in…" : "Checking the link…"}
        </p>
      ) : (
        <>
          <p class="field-error" role="alert">
            {step.value.kind === "failed" ? step.value.message : ""}
          </p>
          <ProviderButton to={toOwnPath(query.get("to"))} />
          <SignInForm onDone={continueTo} />
          <SignInHelp />
        </>
      )}
    </SignInPage>
  )
}

function ConfirmLink(props: { username: string; onConfirm: () => void; onStay: () => void }) {
  const { username, onConfirm, onStay } = props
  const me = currentUser()
  return (
    <>
      <p>
        {me ? `You are already signed in as ${me.username}. ` : ""}
        This link opens the account of <strong>{username}</strong>. Use it only if that is your
        account: what you do afterwards belongs to it.
      </p>
      <div class="sign-in-form">
        {me ? <Button onClick={onStay}>Continue as {me.username}</Button> : null}
        <Button {...(me ? { kind: "quiet" } : {})} onClick={onConfirm}>
          Sign in as {username}
        </Button>
      </div>
    </>
  )
}
