import type { Signal } from "@preact/signals"
import { bindText } from "../../ui/bind.ts"
import { Field } from "../parts/field.tsx"

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
