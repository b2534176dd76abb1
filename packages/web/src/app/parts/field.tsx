import { cloneElement, type VNode } from "preact"
import { useId } from "preact/hooks"

/** A label with what is filled in, and a word about it, which is not part of its name. */
export function Field(props: {
  readonly label: string
  readonly hint?: string
  readonly children: VNode
}) {
  const hintId = useId()
  return (
    <div class="field">
      {/* biome-ignore lint/a11y/noLabelWithoutControl: what it labels is handed in */}
      <label class="field">
        <span class="field-label">{props.label}</span>
        {props.hint ? cloneElement(props.children, { "aria-describedby": hintId }) : props.children}
      </label>
      {props.hint ? (
        <span id={hintId} class="field-hint">
          {props.hint}
        </span>
      ) : null}
    </div>
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
      <select
        class="input"
        value={props.value}
        onChange={(event) => props.onChange(event.currentTarget.value as Value)}
      >
        {props.choices.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </label>
  )
}
