/** Buttons for a few views of the same data. */
export function Segments<Name extends string>(props: {
  readonly label: string
  readonly choices: readonly { readonly name: Name; readonly label: string }[]
  readonly current: Name
  readonly onChange: (name: Name) => void
}) {
  return (
    <fieldset class="segments">
      <legend class="visually-hidden">{props.label}</legend>
      {props.choices.map(({ name, label }) => (
        <button
          key={name}
          type="button"
          class="segment"
          aria-pressed={props.current === name}
          onClick={() => props.onChange(name)}
        >
          {label}
        </button>
      ))}
    </fieldset>
  )
}
