import { cloneElement, type VNode } from "preact"
import { useId } from "preact/hooks"

/**
 * A labelled input with a hint and what is wrong with it. Both are descriptions, not parts of the
 * accessible name.
 */
export function Field(props: {
  readonly label: string
  readonly hint?: string | undefined
  readonly error?: string | undefined
  readonly children: VNode
}) {
  const { label, hint, error, children } = props
  const hintId = useId()
  const errorId = useId()
  const descriptions = [...(hint ? [hintId] : []), ...(error ? [errorId] : [])]
  return (
    <div class="field">
      {/* biome-ignore lint/a11y/noLabelWithoutControl: the control is a child */}
      <label class="field">
        <span class="field-label">{label}</span>
        {descriptions.length === 0
          ? children
          : cloneElement(children, {
              "aria-describedby": descriptions.join(" "),
              ...(error ? { "aria-invalid": true } : {}),
            })}
      </label>
      {hint ? (
        <span id={hintId} class="field-hint">
          {hint}
        </span>
      ) : null}
      {error ? (
        <span id={errorId} class="field-error" role="alert">
          {error}
        </span>
      ) : null}
    </div>
  )
}

/** A drop-down list. */
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

/** The properties of an input for the name of a val. */
export const valNameInput = {
  class: "input",
  maxLength: 48,
  pattern: "[a-zA-Z][a-zA-Z0-9_\\-]*|\\.config",
  title: "A letter, then letters, digits, - and _; or .config",
  autocomplete: "off",
  spellcheck: false,
} as const
