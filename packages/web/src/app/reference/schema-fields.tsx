import { useSignal } from "@preact/signals"
import { Icon } from "../../ui/icon.tsx"
import {
  allowedValues,
  describeConstraints,
  describeType,
  expandSchema,
  type SchemaField,
} from "./describe-schema.ts"
import { InlineText } from "./inline-text.tsx"
import { resolveSchema, type Schema, type Schemas } from "./schema.ts"

interface SchemaFieldsProps {
  readonly schemas: Schemas
  readonly schema: Schema
  /** Requests mark required fields, responses fields that may be absent. */
  readonly isResponse?: boolean
}

/** The rows of a schema, one per field. */
export function SchemaFields({ schemas, schema, isResponse = false }: SchemaFieldsProps) {
  return (
    <ul class="schema-fields">
      {expandSchema(schemas, schema).map((field) => (
        <SchemaRow key={field.name} schemas={schemas} field={field} isResponse={isResponse} />
      ))}
    </ul>
  )
}

interface SchemaRowProps {
  readonly schemas: Schemas
  readonly field: SchemaField
  readonly description?: string
  readonly isResponse?: boolean
}

/** A row: name, type, constraints, and nested fields to expand. */
export function SchemaRow({ schemas, field, description, isResponse = false }: SchemaRowProps) {
  const { schema, name, kind, isRequired } = field
  const resolved = resolveSchema(schemas, schema).schema
  const text = description || schema.description || resolved.description
  const notes = describeConstraints(schemas, schema)
  const values = allowedValues(schemas, schema)
  const isPlain = kind === "field"
  const mark = isResponse ? (isRequired ? "" : "may be absent") : isRequired ? "required" : ""
  return (
    <li class="ruled schema-row">
      <div class="wrap schema-head">
        <code class="breaks schema-name">{name}</code>
        {isPlain ? <span class="quiet">{describeType(schemas, schema)}</span> : null}
        {isPlain && mark !== "" ? <span class="small">{mark}</span> : null}
      </div>
      {text ? (
        <p>
          <InlineText>{text}</InlineText>
        </p>
      ) : null}
      {notes.length > 0 ? (
        <p class="quiet">
          <InlineText>{notes.join(", ")}</InlineText>
        </p>
      ) : null}
      {values.length > 0 ? (
        <p class="wrap schema-values">
          {values.map((value) => (
            <code key={value}>{value}</code>
          ))}
        </p>
      ) : null}
      <NestedFields schemas={schemas} schema={schema} isResponse={isResponse} />
    </li>
  )
}

/** Nested fields. Rendered only when expanded: a schema may contain itself. */
function NestedFields(props: SchemaFieldsProps) {
  const isOpen = useSignal(false)
  const count = expandSchema(props.schemas, props.schema).length
  if (count === 0) return null
  return (
    <details
      class="fold nested"
      onToggle={(event) => {
        isOpen.value = event.currentTarget.open
      }}
    >
      <summary>
        <Icon name="chevron" />
        {count} {count === 1 ? "field" : "fields"}
      </summary>
      {isOpen.value ? <SchemaFields {...props} /> : null}
    </details>
  )
}
