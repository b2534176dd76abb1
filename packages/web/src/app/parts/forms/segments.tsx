import { bindQuery, type QueryChoiceProps } from "./query-choice.tsx"

/** Buttons for a few views of the same data. */
export function Segments<Value extends string>(props: {
  readonly label: string
  readonly choices: readonly { readonly value: Value; readonly label: string }[]
  readonly value: Value
  readonly onChange: (value: Value) => void
}) {
  return (
    <fieldset class="boxed segments">
      <legend class="visually-hidden">{props.label}</legend>
      {props.choices.map(({ value, label }) => (
        <button
          key={value}
          type="button"
          class="segment"
          aria-pressed={props.value === value}
          onClick={() => props.onChange(value)}
        >
          {label}
        </button>
      ))}
    </fieldset>
  )
}

/** Buttons whose choice is in the address. */
export function QuerySegments(props: QueryChoiceProps) {
  return <Segments label={props.label} {...bindQuery(props)} />
}
