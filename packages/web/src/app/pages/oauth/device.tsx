import { useSignal } from "@preact/signals"
import { bindText } from "../../../ui/bind.ts"
import { useTitle } from "../../../ui/page-states.tsx"
import { currentLocation, navigate } from "../../frame/location.ts"
import { Field } from "../../parts/forms/field.tsx"
import { Form } from "../../parts/forms/form.tsx"
import { SignInPage } from "../../session/sign-in-page.tsx"

/** Takes the code that a program without a browser shows, and says how it ended. */
export function Page() {
  useTitle("Connect a program")
  const { query } = currentLocation.value
  return (
    <SignInPage title="Connect a program">
      {query.has("connected") ? (
        <p role="status">The program is connected. You can close this page and go back to it.</p>
      ) : query.has("cancelled") ? (
        <p role="status">The program gets no access. You can close this page.</p>
      ) : (
        <EnterCode />
      )}
    </SignInPage>
  )
}

function EnterCode() {
  const code = useSignal("")
  const submit = async () => {
    navigate(`/oauth/authorize?user_code=${encodeURIComponent(code.value.trim())}`)
  }
  return (
    <Form onSubmit={submit} label="Continue" isReady={code.value.trim() !== ""} kind="sign-in-form">
      <Field label="Code that the program shows">
        <input class="input" autocomplete="off" spellcheck={false} {...bindText(code)} />
      </Field>
    </Form>
  )
}
