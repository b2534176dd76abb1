import { useSignal } from "@preact/signals"
import { Icon } from "../../ui/icon.tsx"
import { InlineText } from "../operations/inline-code.tsx"
import {
  allowedValues,
  describeConstraints,
  describeType,
  expandSchema,
  type SchemaField,
} from "./describe-schema.ts"
import { resolveSchema, type Schema, type Schemas } from "./schema.ts"

interface SchemaFieldsProps {
  readonly schemas: Schemas
  readonly schema: Schema
  /** Requests mark required fields, responses fields that may be absent. */
  readonly isResponse?: boolean
}

/** The rows of a schema, one per field. */
export function SchemaFields({ schemas, schema, isResponse = false }: SchemaFieldsProps) {
  const fields = expandSchema(schemas, schema)
  return (
    <ul class="fields">
      {fields.map((field) => (
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
  const { schema } = field
  const resolved = resolveSchema(schemas, schema).schema
  const text = description || schema.description || resolved.description
  const notes = describeConstraints(schemas, schema)
  const values = allowedValues(schemas, schema)
  return (
    <li class="ruled field">
      <div class="wrap field-head">
        <code class={`breaks field-name ${field.kind === "field" ? "" : "field-alternative"}`}>
          {field.name}
        </code>
        {field.kind === "field" ? (
          <span class="field-type">{describeType(schemas, schema)}</span>
        ) : null}
        {field.isRequired && !isResponse ? <span class="field-required">required</span> : null}
        {!field.isRequired && isResponse && field.kind === "field" ? (
          <span class="field-absent">may be absent</span>
        ) : null}
      </div>
      {text ? (
        <p class="field-text">
          <InlineText>{text}</InlineText>
        </p>
      ) : null}
      {notes.length > 0 || resolved.pattern ? (
        <p class="field-notes">
          {notes.join(", ")}
          {resolved.pattern ? (
            <>
              {notes.length > 0 ? ", matches " : "Matches "}
              <code>{resolved.pattern}</code>
            </>
          ) : null}
        </p>
      ) : null}
      {values.length > 0 ? (
        <p class="wrap field-values">
          {values.map((value) => (
            <code key={value}>{value}</code>
          ))}
        </p>
      ) : null}
      {expandSchema(schemas, schema).length > 0 ? (
        <NestedFields schemas={schemas} schema={schema} isResponse={isResponse} />
      ) : null}
    </li>
  )
}

/** Nested fields. Rendered only when expanded: a schema may contain itself. */
function NestedFields({ schemas, schema, isResponse = false }: SchemaFieldsProps) {
  const isOpen = useSignal(false)
  const count = expandSchema(schemas, schema).length
  return (
    <details
      class="nested"
      onToggle={(event) => {
        isOpen.value = event.currentTarget.open
      }}
    >
      <summary>
        <Icon name="chevron" />
        {isOpen.value ? "Hide" : "Show"} {count} {count === 1 ? "field" : "fields"}
      </summary>
      {isOpen.value ? (
        <SchemaFields schemas={schemas} schema={schema} isResponse={isResponse} />
      ) : null}
    </details>
  )
}
