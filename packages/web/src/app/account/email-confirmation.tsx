import { useSignal } from "@preact/signals"
import { bindText } from "../../ui/bind.ts"
import { api } from "../api.ts"
import { showDone } from "../frame/toast-list.ts"
import { Field } from "../parts/field.tsx"
import { Form } from "../parts/form.tsx"
import { Section } from "../parts/section.tsx"
import { useAction } from "../parts/use-action.ts"
import { changeMe } from "../session/session.ts"

/** Asks for the code that was sent to the user's address. Vals write to a confirmed address only. */
export function EmailConfirmation({ email }: { email: string }) {
  const code = useSignal("")
  const { isBusy, run } = useAction()
  const confirmCode = async () => {
    changeMe(await api.confirmEmail({ code: code.value }))
    showDone("The address is confirmed")
  }
  const sendCode = () =>
    run(async () => {
      await api.sendEmailCode()
      showDone(`A code is on its way to ${email}`)
    })
  return (
    <Section title="Confirm your address">
      <p>Mail of your vals, and about them, goes to {email} once you have confirmed it.</p>
      <Form onSubmit={confirmCode} label="Confirm" isReady={code.value.trim() !== ""}>
        <Field label="Code" hint="From the mail that was sent to the address.">
          <input
            class="input input-mono"
            inputmode="numeric"
            autocomplete="one-time-code"
            {...bindText(code)}
          />
        </Field>
      </Form>
      <p>
        <button type="button" class="link-button" disabled={isBusy} onClick={() => void sendCode()}>
          Send a new code
        </button>
      </p>
    </Section>
  )
}
