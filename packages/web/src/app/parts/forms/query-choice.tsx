import { currentLocation, setQuery } from "../../frame/location.ts"
import { Select } from "./field.tsx"

interface Choice {
  readonly value: string
  readonly label: string
}

/** A choice that is in the address. */
export interface QueryChoiceProps {
  /** The name of the query parameter. */
  readonly name: string
  readonly label: string
  readonly choices: readonly Choice[]
}

/** The choice that the address has; the first one if it has none, or none of these. */
export function readChoice<Choices extends readonly [Choice, ...(readonly Choice[])]>(
  name: string,
  choices: Choices,
): Choices[number] {
  const wanted = currentLocation.value.query.get(name)
  return choices.find(({ value }) => value === wanted) ?? choices[0]
}

/** A drop-down list whose choice is in the address. */
export function QuerySelect(props: QueryChoiceProps) {
  return <Select label={props.label} isLabelHidden {...bindQuery(props)} />
}

/** The first choice is the address without a parameter. */
export function bindQuery({ name, choices }: QueryChoiceProps) {
  const first = choices[0]?.value ?? ""
  return {
    choices,
    value: currentLocation.value.query.get(name) ?? first,
    onChange: (value: string) => setQuery({ [name]: value === first ? undefined : value }),
  }
}
