import { useSignal } from "@preact/signals"
import { api } from "../../api.ts"
import { explain } from "../../model/explain.ts"
import { session, whoIsHere } from "../../state/session.ts"
import { sayDone } from "../../state/toasts.ts"
import { Avatar } from "../avatar.tsx"
import { Field } from "../field.tsx"

const bioCharsMax = 2_000

/** What others see of one, and where one can be reached. */
export function Profile() {
  const me = whoIsHere()
  const wanted = useSignal({ bio: me?.bio ?? "", email: me?.email ?? "" })
  const state = useSignal<{ readonly isBusy: boolean; readonly failure?: string }>({ isBusy: false })
  if (!me) return null
  const isChanged = wanted.value.bio !== (me.bio ?? "") || wanted.value.email !== (me.email ?? "")
  const save = async (event: Event) => {
    event.preventDefault()
    state.value = { isBusy: true }
    try {
      const { bio, email } = wanted.value
      const saved = await api.updateMe({ bio: bio === "" ? null : bio, email: email === "" ? null : email })
      session.value = { kind: "signed-in", me: saved }
      state.value = { isBusy: false }
      sayDone("Saved")
    } catch (error) {
      state.value = { isBusy: false, failure: explain(error) }
    }
  }
  return (
    <form class="form" onSubmit={save}>
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
      <p class="field-error" role="alert">
        {state.value.failure}
      </p>
      <div class="form-foot">
        <button type="submit" class="button" disabled={!isChanged || state.value.isBusy}>
          Save
        </button>
      </div>
    </form>
  )
}
