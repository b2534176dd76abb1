import { useSignal } from "@preact/signals"
import { bindChoice, bindText } from "../../ui/bind.ts"
import { api } from "../api.ts"
import { DropZone } from "../archive/drop-zone.tsx"
import { currentLocation, navigate } from "../frame/location.ts"
import { privacyChoices, typeChoices, withMeaning } from "../parts/badges.tsx"
import { Field, Select, valNameInput } from "../parts/forms/field.tsx"
import { Form } from "../parts/forms/form.tsx"
import { PageHead } from "../parts/page-head.tsx"
import { Section } from "../parts/section.tsx"
import { canChangeOwn, chooseOwner, currentOwner, joined } from "../session/owners.ts"
import { viewer } from "../session/session.ts"
import { templates } from "../templates/catalog.ts"
import { TemplateCards } from "../templates/template-cards.tsx"
import { focusWanted } from "../val/files/files-view.ts"

const starts = {
  http: `export default function (request: Request): Response {\n  return new Response("Hello")\n}\n`,
  script: `export default function () {\n  console.log("Hello")\n  return 42\n}\n`,
  interval: `export default function (interval: Interval) {
  console.log("last run at", interval.lastRunAt)
}
`,
  email: `export default function (email: Email) {
  console.log(email.from, "wrote", email.subject)
}
`,
} as const

/** Creates a val: from an example with one click, or by name. */
export function Page() {
  const name = useSignal("")
  const wanted = currentLocation.value.query.get("type")
  const type = useSignal(typeChoices.find(({ value }) => value === wanted)?.value ?? "http")
  const privacy = useSignal<"public" | "unlisted" | "private">("private")
  const submit = async () => {
    const chosenName = name.value.trim()
    const val = await api.createVal({
      ...(chosenName === "" ? {} : { name: chosenName }),
      code: starts[type.value],
      type: type.value,
      privacy: privacy.value,
    })
    focusWanted.value = "entry"
    navigate(new URL(val.url).pathname)
  }
  return (
    <>
      <PageHead title="New val" />
      <Form onSubmit={submit} label="Create" busyLabel="Creating…" isReady={canChangeOwn()}>
        <Field
          label="Name"
          hint="Letters, digits, - and _; part of its web address. Left empty, the server chooses one."
        >
          <input name="name" {...valNameInput} {...bindText(name)} />
        </Field>
        <OwnerSelect />
        <Select label="Type" choices={withMeaning(typeChoices)} {...bindChoice(type)} />
        <Select label="Privacy" choices={withMeaning(privacyChoices)} {...bindChoice(privacy)} />
        {type.value === "http" && privacy.value === "private" ? (
          <p class="field-hint">
            The address of a private val works only for its owner. The address of an unlisted val
            works for anyone who has it.
          </p>
        ) : null}
      </Form>
      <Section title="Or bring your files">
        <DropZone />
      </Section>
      <Section title="Or start with a template" end={<a href="/templates">Try them first</a>}>
        <TemplateCards templates={templates} />
      </Section>
    </>
  )
}

/** Whose the val will be; it is the choice in the header too. */
function OwnerSelect() {
  const me = viewer()
  if (!me || joined.value.length === 0) return null
  const choices = [
    { value: me.id, label: `${me.username} (you)` },
    ...joined.value.map(({ org: { id, username }, role }) => ({
      value: id,
      label: role === "viewer" ? `${username}: you are a viewer` : username,
    })),
  ]
  const choose = (id: string) => chooseOwner(id === me.id ? undefined : id)
  const value = currentOwner()?.id ?? me.id
  return (
    <>
      <Select label="Owner" choices={choices} value={value} onChange={choose} />
      {canChangeOwn() ? null : (
        <p class="field-hint">Viewers cannot create vals. Choose another owner.</p>
      )}
    </>
  )
}
