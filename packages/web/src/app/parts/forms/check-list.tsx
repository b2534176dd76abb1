import type { Signal } from "@preact/signals"
import { Check } from "../../../ui/check.tsx"

/** A box for each name that can be chosen, with its meaning. */
export function CheckList<Name extends string>(props: {
  readonly label: string
  readonly meanings: readonly (readonly [Name, string])[]
  readonly chosen: Signal<ReadonlySet<Name>>
}) {
  const { label, meanings, chosen } = props
  const toggle = (name: Name) => {
    const next = new Set(chosen.value)
    if (!next.delete(name)) next.add(name)
    chosen.value = next
  }
  return (
    <fieldset>
      <legend class="field-label">{label}</legend>
      <div class="scopes">
        {meanings.map(([name, meaning]) => (
          <Check key={name} checked={chosen.value.has(name)} onChange={() => toggle(name)}>
            {meaning} <code>{name}</code>
          </Check>
        ))}
      </div>
    </fieldset>
  )
}
