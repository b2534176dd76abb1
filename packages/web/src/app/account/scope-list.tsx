import type { Input } from "@hamlet/contract/client"
import type { Signal } from "@preact/signals"

/** What a token may do. */
export type Scope = Input<"createToken">["scopes"][number]

const meanings: readonly (readonly [Scope, string])[] = [
  ["val:read", "read vals"],
  ["val:write", "create and change vals"],
  ["run:read", "read runs and logs"],
  ["run:write", "run vals"],
  ["user:read", "read your account"],
  ["user:write", "change your account, create tokens"],
  ["blob:read", "read blobs"],
  ["blob:write", "write blobs"],
  ["sqlite:read", "read your database"],
  ["sqlite:write", "write your database"],
  ["email:write", "send mail"],
  ["openai:write", "use the language models of this server"],
]

/** A box for each scope that can be chosen; all that have a meaning here if none are named. */
export function ScopeList(props: {
  readonly label: string
  readonly chosen: Signal<ReadonlySet<Scope>>
  readonly offered?: readonly Scope[]
}) {
  const { label, chosen, offered } = props
  const toggle = (scope: Scope) => {
    const next = new Set(chosen.value)
    if (!next.delete(scope)) next.add(scope)
    chosen.value = next
  }
  const shown = meanings.filter(([scope]) => offered === undefined || offered.includes(scope))
  return (
    <fieldset>
      <legend class="field-label">{label}</legend>
      <div class="scopes">
        {shown.map(([scope, meaning]) => (
          <label key={scope} class="check">
            <input
              type="checkbox"
              checked={chosen.value.has(scope)}
              onChange={() => toggle(scope)}
            />
            <span>
              {meaning} <code>{scope}</code>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}
