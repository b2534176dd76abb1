import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { Icon } from "../../ui/icon.tsx"
import { api } from "../api.ts"
import { explain } from "../data/explain.ts"
import { navigate, place } from "../frame/location.ts"
import { useTitle } from "../frame/page-title.tsx"
import { session, whoIsHere } from "../session/session.ts"
import { signIn } from "../session/sign-in.ts"
import { SignInForm, SignInHelp } from "../session/sign-in-form.tsx"

type Step =
  | { readonly kind: "waiting" | "looking" | "signing-in" }
  | { readonly kind: "asking"; readonly username: string }
  | { readonly kind: "failed"; readonly message: string }

/** The way in: by a link, whose code stands after `#` so that it is in no log, or by a token. */
export function Page() {
  useTitle("Sign in")
  const { query, hash } = place.value
  const code = new URLSearchParams(hash.slice(1)).get("code")
  const step = useSignal<Step>({ kind: "waiting" })
  const goOn = () => navigate(toOwnPath(query.get("to")), { replace: true })
  const fail = (error: unknown) => {
    step.value = {
      kind: "failed",
      message: `${explain(error)}. Ask for a new link, or sign in with a token`,
    }
  }
  const lookAtLink = async (code: string) => {
    step.value = { kind: "looking" }
    const { username } = await api.findSignInLinkOwner({ code })
    step.value = { kind: "asking", username }
  }
  const takeLink = () => {
    step.value = { kind: "signing-in" }
    signIn({ code: code ?? "" }).then(goOn, fail)
  }
  const isKnown = session.value.kind !== "unknown"
  useEffect(() => {
    if (code === null || !isKnown || step.peek().kind !== "waiting") return
    // The code is good for one sign-in: in the history it would only mislead.
    history.replaceState(null, "", location.pathname + location.search)
    // A stranger's link opens the stranger's account, and everything that is typed from then on is
    // theirs. So the page says whose account it is, and signs in only when it is told to, wherever
    // the link came from.
    lookAtLink(code).catch(fail)
  }, [code, isKnown])
  return (
    <main class="sign-in">
      <div class="sign-in-card">
        <a class="brand brand-large" href="/">
          <Icon name="mark" />
          <span>Hamlet</span>
        </a>
        <h1>Sign in</h1>
        {code !== null && step.value.kind === "asking" ? (
          <AskFirst username={step.value.username} onUse={takeLink} onStay={goOn} />
        ) : code !== null && step.value.kind !== "failed" ? (
          <p role="status">
            {step.value.kind === "signing-in" ? "Signing in…" : "Looking at the link…"}
          </p>
        ) : (
          <>
            <p class="field-error" role="alert">
              {step.value.kind === "failed" ? step.value.message : ""}
            </p>
            <SignInForm onDone={goOn} />
            <SignInHelp />
          </>
        )}
      </div>
    </main>
  )
}

function AskFirst({
  username,
  onUse,
  onStay,
}: {
  username: string
  onUse: () => void
  onStay: () => void
}) {
  const me = whoIsHere()
  return (
    <>
      <p>
        {me ? `You are signed in as ${me.username} already. ` : ""}
        This link opens the account of <strong>{username}</strong>. Use it only if that is your
        account: what you do afterwards belongs to it.
      </p>
      <div class="sign-in-form">
        {me ? (
          <button type="button" class="button" onClick={onStay}>
            Go on as {me.username}
          </button>
        ) : null}
        <button type="button" class={me ? "button button-quiet" : "button"} onClick={onUse}>
          Sign in as {username}
        </button>
      </div>
    </>
  )
}

/** Only ever a path of our own: a link that signs in must not lead elsewhere, nor nowhere. */
function toOwnPath(to: string | null): string {
  const url = URL.parse(to ?? "/", location.origin)
  // A path of two slashes would be read as another host.
  return url?.origin === location.origin && !url.pathname.startsWith("//")
    ? url.pathname + url.search
    : "/"
}
