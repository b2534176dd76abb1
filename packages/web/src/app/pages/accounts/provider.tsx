import type { Output } from "@hamlet/contract/client"
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { useTitle } from "../../../ui/page-states.tsx"
import { api } from "../../api.ts"
import { explain } from "../../data/explain.ts"
import { navigate } from "../../frame/location.ts"
import { showDone } from "../../frame/toast-list.ts"
import { Form } from "../../parts/forms/form.tsx"
import { toOwnPath } from "../../session/own-path.ts"
import { type ProviderVisit, takeVisit } from "../../session/provider.ts"
import { session } from "../../session/session.ts"
import { enterSession } from "../../session/sign-in.ts"
import { SignInPage, UsernameField } from "../../session/sign-in-page.tsx"
import { settings } from "../../settings.ts"

type SignUp = NonNullable<Output<"finishProviderSignIn">["signUp"]>

type Step =
  | { readonly kind: "working" }
  | { readonly kind: "new"; readonly signUp: SignUp; readonly visit: ProviderVisit }
  | { readonly kind: "failed"; readonly message: string }

/** Where the provider sends the browser back to: signs in, or asks a new user for a name. */
export function Page() {
  useTitle("Sign in")
  const step = useSignal<Step>({ kind: "working" })
  const hasBegun = useSignal(false)
  const isKnown = session.value.kind !== "unknown"
  useEffect(() => {
    if (!isKnown || hasBegun.peek()) return
    hasBegun.value = true
    const response = location.search.slice(1)
    // The response of the provider works once: it must not stay in the history.
    history.replaceState(null, "", location.pathname)
    finish(response).then(
      (next) => {
        if (next) step.value = next
      },
      (error: unknown) => {
        step.value = { kind: "failed", message: explain(error) }
      },
    )
  }, [isKnown])
  const { value } = step
  return (
    <SignInPage>
      {value.kind === "new" ? (
        <NewAccount {...value} />
      ) : (
        <>
          <h1>Sign in</h1>
          {value.kind === "working" ? (
            <p role="status">Signing in…</p>
          ) : (
            <>
              <p class="field-error" role="alert">
                {value.message}
              </p>
              <a class="button" href="/sign-in">
                Back to sign-in
              </a>
            </>
          )}
        </>
      )}
    </SignInPage>
  )
}

/** Returns the next step; undefined once the app shows another page. */
async function finish(response: string): Promise<Step | undefined> {
  const visit = takeVisit()
  if (!visit || response === "")
    return { kind: "failed", message: "This sign-in did not begin in this tab. Begin again." }
  const { attempt, purpose, to } = visit
  if (purpose === "link") {
    const { email } = await api.linkIdentity({ attempt, response })
    showDone(`Linked${email === null ? "" : ` ${email}`}`)
    navigate(toOwnPath(to), { replace: true })
    return undefined
  }
  const finished = await api.finishProviderSignIn({ attempt, response })
  if (finished.signUp) return { kind: "new", signUp: finished.signUp, visit }
  await enterSession(finished.session?.pageKey ?? "")
  navigate(toOwnPath(to), { replace: true })
  return undefined
}

function NewAccount({ signUp, visit }: { signUp: SignUp; visit: ProviderVisit }) {
  const { ticket, email, needsInvitation } = signUp
  const { invitation } = visit
  const username = useSignal(signUp.username ?? "")
  const submit = async () => {
    const name = username.value.trim()
    const { pageKey } = await api.signUpWithProvider({ ticket, username: name, invitation })
    await enterSession(pageKey)
    navigate(toOwnPath(visit.to), { replace: true })
  }
  if (needsInvitation && invitation === undefined)
    return (
      <>
        <h1>You need an invitation</h1>
        <p>
          {email ?? "You"} {email === null ? "have" : "has"} no account on this server yet. Ask its
          operator for an invitation link, open it, and choose “Accept with {settings.providerName}
          ”.
        </p>
      </>
    )
  return (
    <>
      <h1>Choose a name</h1>
      <p>
        {email === null ? "You have" : `${email} has`} no account on this server yet. This creates
        one.
      </p>
      <Form onSubmit={submit} label="Create account" busyLabel="Creating…" kind="sign-in-form">
        <UsernameField username={username} />
      </Form>
    </>
  )
}
