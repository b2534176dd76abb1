import { useId } from "preact/hooks"
import { Check } from "../../ui/check.tsx"
import { checkValue } from "./check-value.ts"
import { allowedValues } from "./describe-schema.ts"
import { type FieldKind, fieldKind, toItems, valueToText } from "./field-value.ts"
import type { Schema, Schemas } from "./schema.ts"
import { resolveSchema } from "./schema.ts"
import { schemaToExample } from "./schema-to-example.ts"

interface SchemaInputProps {
  readonly schemas: Schemas
  readonly schema: Schema
  readonly name: string
  readonly location: "path" | "query" | "header" | "body"
  readonly isRequired: boolean
  readonly value: string
  readonly onInput: (text: string) => void
}

/** An input for a value, with advice when it does not match the schema. */
export function SchemaInput(props: SchemaInputProps) {
  const { schemas, schema, name, location, isRequired, value } = props
  const id = useId()
  const kind = fieldKind(schemas, schema)
  const advice =
    value === "" || kind === "choices" || kind === "list"
      ? undefined
      : checkValue(schemas, schema, value)
  const label = (
    <>
      {name}
      {isRequired ? <span class="input-required"> required</span> : null}
    </>
  )
  if (kind === "choices") return <Choices {...props} label={label} />
  return (
    <div class={isTall(kind) ? "input-row input-row-tall" : "input-row"}>
      <label class="input-label" for={id}>
        {label}
        {kind === "list" ? (
          <span class="input-hint"> one per line</span>
        ) : kind === "json" ? (
          <span class="input-hint"> as JSON</span>
        ) : null}
      </label>
      <div>
        <Input
          {...props}
          id={id}
          kind={kind}
          location={location}
          adviceId={advice ? `${id}-advice` : undefined}
        />
        {advice ? (
          <p class="input-advice" id={`${id}-advice`}>
            {advice}
          </p>
        ) : null}
      </div>
    </div>
  )
}

function isTall(kind: FieldKind): boolean {
  return kind === "lines" || kind === "list" || kind === "json"
}

function Input(
  props: SchemaInputProps & { id: string; kind: FieldKind; adviceId: string | undefined },
) {
  const { schemas, schema, name, location, value, onInput, id, kind, adviceId } = props
  const shared = {
    id,
    class: "input input-mono",
    value,
    "data-location": location,
    "data-name": name,
    "aria-describedby": adviceId,
  }
  const textual = {
    ...shared,
    spellcheck: false,
    autocapitalize: "off",
    autocomplete: "off",
  } as const
  if (kind === "choice") {
    const values =
      resolveSchema(schemas, schema).schema.type === "boolean"
        ? ["true", "false"]
        : allowedValues(schemas, schema)
    return (
      <select {...shared} onChange={(event) => onInput(event.currentTarget.value)}>
        <option value="">–</option>
        {values.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
    )
  }
  const placeholder = `e.g. ${valueToText(schemaToExample(schemas, schema, { name }))}`
  if (isTall(kind))
    return (
      <textarea
        {...textual}
        rows={kind === "list" ? 2 : 4}
        placeholder={placeholder}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    )
  return (
    <input
      {...textual}
      type="text"
      inputMode={kind === "number" ? "numeric" : "text"}
      placeholder={placeholder}
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  )
}

function Choices(props: SchemaInputProps & { label: preact.ComponentChildren }) {
  const { schemas, schema, name, location, value, onInput, label } = props
  const picked = toItems(value)
  const all = allowedValues(schemas, schema)
  const toggle = (one: string) =>
    onInput(all.filter((other) => picked.includes(other) !== (other === one)).join("\n"))
  return (
    <fieldset class="input-row input-row-tall" data-location={location} data-name={name}>
      <legend class="input-label">{label}</legend>
      <div class="wrap choices-list">
        {all.map((one) => (
          <Check key={one} checked={picked.includes(one)} onChange={() => toggle(one)}>
            {one}
          </Check>
        ))}
      </div>
    </fieldset>
  )
}
