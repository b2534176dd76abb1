import type { Output } from "@hamlet/contract/client"
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { useTitle } from "../../../ui/page-states.tsx"
import { type Scope, ScopeList } from "../../account/scope-list.tsx"
import { api } from "../../api.ts"
import { explain } from "../../data/explain.ts"
import { currentLocation } from "../../frame/location.ts"
import { Form } from "../../parts/forms/form.tsx"
import { TimeAgo } from "../../parts/time-ago.tsx"
import { currentUser, session } from "../../session/session.ts"
import { SignInPage } from "../../session/sign-in-page.tsx"

type Asked = Output<"checkAuthorization">

/** Asks the user whether a program may act for them (OAuth). */
export function Page() {
  useTitle("Connect a program")
  const asked = useSignal<Asked | undefined>(undefined)
  const problem = useSignal("")
  const query = location.search.slice(1)
  const me = currentUser()
  useEffect(() => {
    if (!me) return
    api.checkAuthorization({ query }).then(
      (found) => {
        asked.value = found
      },
      (error: unknown) => {
        problem.value = explain(error)
      },
    )
  }, [me?.id, query])
  return (
    <SignInPage title="Connect a program">
      {problem.value !== "" ? (
        <p class="field-error" role="alert">
          {problem.value}
        </p>
      ) : asked.value && me ? (
        <Consent asked={asked.value} query={query} username={me.username} />
      ) : (
        <Waiting />
      )}
    </SignInPage>
  )
}

function Waiting() {
  const { kind } = session.value
  if (kind === "unknown" || kind === "signed-in") return <p role="status">Loading…</p>
  const { path } = currentLocation.value
  const to = `${path}${location.search}`
  return (
    <>
      <p>A program wants to work with your vals. Sign in to see which, and to decide.</p>
      <div class="sign-in-form">
        <a class="button" href={`/sign-in?to=${encodeURIComponent(to)}`}>
          Sign in
        </a>
      </div>
    </>
  )
}

function Consent({ asked, query, username }: { asked: Asked; query: string; username: string }) {
  const chosen = useSignal<ReadonlySet<Scope>>(new Set(asked.scopes))
  const decide = async (scopes: readonly Scope[]) => {
    const { url } = await api.createAuthorization({ query, scopes: [...scopes] })
    location.assign(url)
  }
  const problem = useSignal("")
  const refuse = () =>
    decide([]).catch((error: unknown) => {
      problem.value = explain(error)
    })
  if (asked.refusal)
    return (
      <>
        <p class="field-error" role="alert">
          {asked.clientName} sent a request that this server cannot accept: {asked.refusal.message}.
        </p>
        <div class="sign-in-form">
          <a class="button button-quiet" href={asked.refusal.url}>
            Back to {asked.redirectTarget}
          </a>
        </div>
      </>
    )
  return (
    <>
      <p>
        A program that calls itself <strong>{asked.clientName}</strong>, registered{" "}
        <TimeAgo at={asked.clientCreatedAt} />, wants to act as <strong>{username}</strong>.
      </p>
      <p>
        {asked.isLocal ? (
          <>
            Access goes to a program on this computer, at <code>{asked.redirectTarget}</code>.
          </>
        ) : (
          <>
            Access goes to <code>{asked.redirectTarget}</code>.
          </>
        )}{" "}
        Anybody can choose a name: continue only if you have just started this yourself.
      </p>
      <Form
        onSubmit={() => decide([...chosen.value])}
        label="Allow"
        busyLabel="Allowing…"
        isReady={chosen.value.size > 0}
        kind="sign-in-form"
      >
        <ScopeList label="It may" chosen={chosen} offered={asked.scopes} />
      </Form>
      <div class="sign-in-form">
        <button type="button" class="button button-quiet" onClick={() => void refuse()}>
          Cancel
        </button>
        {problem.value === "" ? null : (
          <p class="field-error" role="alert">
            {problem.value}
          </p>
        )}
      </div>
      <p class="quiet">You can end this at any time under Account, Programs.</p>
    </>
  )
}
