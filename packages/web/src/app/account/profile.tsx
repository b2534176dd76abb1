import { useSignal } from "@preact/signals"
import { api } from "../api.ts"
import { sayDone } from "../frame/toast-list.ts"
import { Avatar } from "../parts/avatar.tsx"
import { Field } from "../parts/field.tsx"
import { Form } from "../parts/form.tsx"
import { session, whoIsHere } from "../session/session.ts"

const bioCharsMax = 2_000

/** What others see of one, and where one can be reached. */
export function Profile() {
  const me = whoIsHere()
  const wanted = useSignal({ bio: me?.bio ?? "", email: me?.email ?? "" })
  if (!me) return null
  const isChanged = wanted.value.bio !== (me.bio ?? "") || wanted.value.email !== (me.email ?? "")
  const save = async () => {
    const { bio, email } = wanted.value
    const saved = await api.updateMe({
      bio: bio === "" ? null : bio,
      email: email === "" ? null : email,
    })
    session.value = { kind: "signed-in", me: saved }
    sayDone("Saved")
  }
  return (
    <Form onSubmit={save} label="Save" isReady={isChanged}>
      <div class="profile-head">
        <Avatar name={me.username} size="large" />
        <div>
          <p class="profile-name">{me.username}</p>
          <a href={`/u/${me.username}`}>Your page</a>
        </div>
      </div>
      <Field label="About you" hint="Everybody can read it on your page.">
        <textarea
          class="input"
          maxLength={bioCharsMax}
          value={wanted.value.bio}
          onInput={(event) => {
            wanted.value = { ...wanted.value, bio: event.currentTarget.value }
          }}
        />
      </Field>
      <Field label="Email" hint="Only you and whoever runs this server can see it.">
        <input
          class="input"
          type="email"
          autocomplete="email"
          value={wanted.value.email}
          onInput={(event) => {
            wanted.value = { ...wanted.value, email: event.currentTarget.value }
          }}
        />
      </Field>
    </Form>
  )
}
