import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { Icon } from "../../ui/icon.tsx"
import { useTitle } from "../components/page-title.tsx"
import { SignInForm, SignInHelp } from "../components/sign-in-form.tsx"
import { explain } from "../model/explain.ts"
import { settings } from "../settings.ts"
import { navigate, place } from "../state/location.ts"
import { session, whoIsHere } from "../state/session.ts"
import { signIn } from "../state/sign-in.ts"

type Step = { readonly kind: "waiting" | "asking" | "signing-in" } | { readonly kind: "failed"; readonly message: string }

/** The way in: by a link, whose code stands after `#` so that it is in no log, or by a token. */
export function Page() {
  useTitle("Sign in")
  const { query, hash } = place.value
  const code = new URLSearchParams(hash.slice(1)).get("code")
  const step = useSignal<Step>({ kind: "waiting" })
  const goOn = () => navigate(toOwnPath(query.get("to")), { replace: true })
  const takeLink = () => {
    step.value = { kind: "signing-in" }
    signIn({ code: code ?? "" }).then(goOn, (error: unknown) => {
      step.value = { kind: "failed", message: `${explain(error)}. Ask for a new link, or sign in with a token` }
    })
  }
  const isKnown = session.value.kind !== "unknown"
  useEffect(() => {
    if (code === null || !isKnown || step.peek().kind !== "waiting") return
    // The code is good for one sign-in: in the history it would only mislead.
    history.replaceState(null, "", location.pathname + location.search)
    // Somebody else's link would sign in as them, and what is typed from then on would be theirs: nobody is signed in so unasked.
    if (whoIsHere() || settings.isFromElsewhere) step.value = { kind: "asking" }
    else takeLink()
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
          <AskFirst onUse={takeLink} onStay={goOn} />
        ) : code !== null && step.value.kind !== "failed" ? (
          <p role="status">Signing in with your link…</p>
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

function AskFirst({ onUse, onStay }: { onUse: () => void; onStay: () => void }) {
  const me = whoIsHere()
  return (
    <>
      <p>
        {me ? `You are signed in as ${me.username} already.` : "A link on another site led here."} Use the link only if you asked for it
        yourself: somebody else's would sign you in as them.
      </p>
      <div class="sign-in-form">
        {me ? (
          <button type="button" class="button" onClick={onStay}>
            Go on as {me.username}
          </button>
        ) : null}
        <button type="button" class={me ? "button button-quiet" : "button"} onClick={onUse}>
          Sign in with the link
        </button>
      </div>
    </>
  )
}

/** Only ever a path of our own: a link that signs in must not lead elsewhere, nor nowhere. */
function toOwnPath(to: string | null): string {
  const url = URL.parse(to ?? "/", location.origin)
  // A path of two slashes would be read as another host.
  return url?.origin === location.origin && !url.pathname.startsWith("//") ? url.pathname + url.search : "/"
}
