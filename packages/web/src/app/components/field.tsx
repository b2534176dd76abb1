import type { ComponentChildren } from "preact"

/** A label with what is filled in, and a word about it. */
export function Field(props: { readonly label: string; readonly hint?: ComponentChildren; readonly children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: what it labels is handed in
    <label class="field">
      <span class="field-label">{props.label}</span>
      {props.children}
      {props.hint ? <span class="field-hint">{props.hint}</span> : null}
    </label>
  )
}

/** One of a few, chosen from a list. */
export function Select<Value extends string>(props: {
  readonly label: string
  readonly value: Value
  readonly choices: readonly { readonly value: Value; readonly label: string }[]
  readonly onChange: (value: Value) => void
  readonly isLabelHidden?: boolean
}) {
  return (
    <label class={props.isLabelHidden ? "select" : "field"}>
      <span class={props.isLabelHidden ? "visually-hidden" : "field-label"}>{props.label}</span>
      <select class="input" value={props.value} onChange={(event) => props.onChange(event.currentTarget.value as Value)}>
        {props.choices.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </label>
  )
}
