import { useSignal } from "@preact/signals"
import { bindText } from "../../ui/bind.ts"
import { api } from "../api.ts"
import { showDone } from "../frame/toast-list.ts"
import { Avatar } from "../parts/avatar.tsx"
import { LinkButton } from "../parts/buttons/link-button.tsx"
import { Field } from "../parts/forms/field.tsx"
import { Form } from "../parts/forms/form.tsx"
import { Section } from "../parts/section.tsx"
import { changeMe, currentUser } from "../session/session.ts"

const bioCharsMax = 2_000

/** The public profile and the email address of the user. */
export function Profile() {
  const me = currentUser()
  const bio = useSignal(me?.bio ?? "")
  const email = useSignal(me?.email ?? "")
  if (!me) return null
  const isChanged = bio.value !== (me.bio ?? "") || email.value !== (me.email ?? "")
  const save = async () => {
    const saved = await api.updateMe({ bio: bio.value || null, email: email.value || null })
    changeMe(saved)
    showDone("Saved")
  }
  return (
    <>
      <Form onSubmit={save} label="Save" isReady={isChanged}>
        <div class="row profile-head">
          <Avatar name={me.username} size="large" />
          <div>
            <p class="profile-name">{me.username}</p>
            <a href={`/u/${me.username}`}>Your page</a>
          </div>
        </div>
        <Field label="About you" hint="Public, on your page.">
          <textarea class="input" maxLength={bioCharsMax} {...bindText(bio)} />
        </Field>
        <Field label="Email" hint="Visible only to you and the operator of this server.">
          <input class="input" type="email" autocomplete="email" {...bindText(email)} />
        </Field>
      </Form>
      {me.email !== null && !me.emailVerified ? <EmailConfirmation email={me.email} /> : null}
      <p class="profile-mail">
        <a href="/mail">The mail that your vals have sent and received</a>
      </p>
    </>
  )
}

/** Asks for the code that was sent to the user's address. Vals write to a confirmed address only. */
function EmailConfirmation({ email }: { email: string }) {
  const code = useSignal("")
  const confirmCode = async () => {
    changeMe(await api.confirmEmail({ code: code.value }))
    showDone("The address is confirmed")
  }
  const sendCode = async () => {
    await api.sendEmailCode()
    showDone(`A code is on its way to ${email}`)
  }
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
        <LinkButton action={sendCode}>Send a new code</LinkButton>
      </p>
    </Section>
  )
}
