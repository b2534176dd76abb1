import { useSignal } from "@preact/signals"
import { api } from "../api.ts"
import { privacyChoices, typeChoices } from "../components/badges.tsx"
import { ExampleCards } from "../components/example-cards.tsx"
import { Field, Select } from "../components/field.tsx"
import { useTitle } from "../components/page-title.tsx"
import { explain } from "../model/explain.ts"
import { navigate } from "../state/location.ts"

const starts = {
  http: `export default function (request: Request): Response {\n  return new Response("Hello")\n}\n`,
  script: `export default function () {\n  console.log("Hello")\n  return 42\n}\n`,
  interval: `export default function () {\n  console.log("tick")\n}\n`,
  email: `export default function (email: unknown) {\n  console.log(email)\n}\n`,
} as const

/** Makes a val: of an example with one click, or by name. */
export function Page() {
  useTitle("New val")
  const name = useSignal("")
  const type = useSignal<keyof typeof starts>("http")
  const privacy = useSignal<"public" | "unlisted" | "private">("private")
  const state = useSignal<{ readonly isBusy: boolean; readonly failure?: string }>({ isBusy: false })
  const submit = async (event: Event) => {
    event.preventDefault()
    state.value = { isBusy: true }
    try {
      const wanted = name.value.trim()
      const val = await api.createVal({
        ...(wanted === "" ? {} : { name: wanted }),
        code: starts[type.value],
        type: type.value,
        privacy: privacy.value,
      })
      navigate(new URL(val.url).pathname)
    } catch (error) {
      state.value = { isBusy: false, failure: explain(error) }
    }
  }
  return (
    <>
      <div class="page-head">
        <h1>New val</h1>
      </div>
      <form class="form" onSubmit={submit}>
        <Field label="Name" hint="Letters, digits and _; becomes part of its web address. Left empty, one is made up.">
          <input
            class="input"
            name="name"
            maxLength={48}
            pattern="[a-zA-Z][a-zA-Z0-9_]*"
            title="A letter, then letters, digits and _"
            autocomplete="off"
            spellcheck={false}
            value={name.value}
            onInput={(event) => {
              name.value = event.currentTarget.value
            }}
          />
        </Field>
        <Select
          label="Type"
          value={type.value}
          choices={typeChoices.map(({ value, label, hint }) => ({ value, label: `${label}: ${hint}` }))}
          onChange={(value) => {
            type.value = value
          }}
        />
        <Select
          label="Privacy"
          value={privacy.value}
          choices={privacyChoices.map(({ value, label, hint }) => ({ value, label: `${label}: ${hint}` }))}
          onChange={(value) => {
            privacy.value = value
          }}
        />
        {type.value === "http" && privacy.value === "private" ? (
          <p class="field-hint">Its address answers nobody else while it is private. Unlisted, it answers whoever has the address.</p>
        ) : null}
        <p class="field-error" role="alert">
          {state.value.failure}
        </p>
        <div class="form-foot">
          <button type="submit" class="button" disabled={state.value.isBusy}>
            {state.value.isBusy ? "Making it…" : "Make it"}
          </button>
        </div>
      </form>
      <section class="section" aria-labelledby="examples">
        <div class="section-head">
          <h2 id="examples">Or begin with one that works</h2>
        </div>
        <ExampleCards />
      </section>
    </>
  )
}
