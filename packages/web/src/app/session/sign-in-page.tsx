import type { Signal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { bindText } from "../../ui/bind.ts"
import { Brand } from "../../ui/brand.tsx"
import { Field } from "../parts/forms/field.tsx"

/** A page without the frame of the app: the brand, a heading, and what it asks for. */
export function SignInPage(props: {
  readonly title?: string
  readonly children: ComponentChildren
}) {
  return (
    <main class="sign-in">
      <div class="sign-in-card">
        <Brand href="/" kind="large" />
        {props.title === undefined ? null : <h1>{props.title}</h1>}
        {props.children}
      </div>
    </main>
  )
}

/** Where a person chooses the name of a new account. */
export function UsernameField({ username }: { readonly username: Signal<string> }) {
  return (
    <Field
      label="Name"
      hint="Letters, digits and _, up to 30. It becomes part of the addresses of your vals and cannot be changed."
    >
      <input
        class="input"
        name="username"
        autocomplete="username"
        required
        maxLength={30}
        pattern="[a-zA-Z][a-zA-Z0-9_]*"
        spellcheck={false}
        {...bindText(username)}
      />
    </Field>
  )
}
