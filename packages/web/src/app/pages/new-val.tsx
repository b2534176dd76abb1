import { useSignal } from "@preact/signals"
import { api } from "../api.ts"
import { navigate } from "../frame/location.ts"
import { useTitle } from "../frame/page-title.tsx"
import { ExampleCards } from "../home/example-cards.tsx"
import { privacyChoices, typeChoices, withMeaning } from "../parts/badges.tsx"
import { Field, Select } from "../parts/field.tsx"
import { Form } from "../parts/form.tsx"

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
  const submit = async () => {
    const wanted = name.value.trim()
    const val = await api.createVal({
      ...(wanted === "" ? {} : { name: wanted }),
      code: starts[type.value],
      type: type.value,
      privacy: privacy.value,
    })
    navigate(new URL(val.url).pathname)
  }
  return (
    <>
      <div class="page-head">
        <h1>New val</h1>
      </div>
      <Form onSubmit={submit} label="Make it" busyLabel="Making it…">
        <Field
          label="Name"
          hint="Letters, digits and _; becomes part of its web address. Left empty, one is made up."
        >
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
          choices={withMeaning(typeChoices)}
          onChange={(value) => {
            type.value = value
          }}
        />
        <Select
          label="Privacy"
          value={privacy.value}
          choices={withMeaning(privacyChoices)}
          onChange={(value) => {
            privacy.value = value
          }}
        />
        {type.value === "http" && privacy.value === "private" ? (
          <p class="field-hint">
            Its address answers nobody else while it is private. Unlisted, it answers whoever has
            the address.
          </p>
        ) : null}
      </Form>
      <section class="section" aria-labelledby="examples">
        <div class="section-head">
          <h2 id="examples">Or begin with one that works</h2>
        </div>
        <ExampleCards />
      </section>
    </>
  )
}
