import type { Json } from "../../ui/code/json.ts"
import { checkValue } from "./check-value.ts"
import { hintsByFormat, hintsByName, hintsByTrial, nullNames } from "./example-hints.ts"
import { alternativesOf, resolveSchema, type Schema, type Schemas } from "./schema.ts"

/** How an example is made. */
export interface ExampleOptions {
  /** The name of the field, which suggests a value. */
  readonly name?: string
  /** Leaves out what may be left out: for a request to start from. */
  readonly isRequiredOnly?: boolean
}

// Deeper than the document; a schema that contains itself ends here.
const depthMax = 8

/** A realistic value that matches the schema. */
export function schemaToExample(
  schemas: Schemas,
  schema: Schema,
  options: ExampleOptions = {},
): Json {
  return example(
    { schemas, isRequiredOnly: options.isRequiredOnly ?? false },
    schema,
    options.name ?? "",
    0,
  )
}

interface Context {
  readonly schemas: Schemas
  readonly isRequiredOnly: boolean
}

function example(context: Context, schema: Schema, name: string, depth: number): Json {
  const { schema: resolved, isNullable } = resolveSchema(context.schemas, schema)
  const given =
    schema.examples?.[0] ??
    resolved.examples?.[0] ??
    resolved.const ??
    schema.default ??
    resolved.default
  if (given !== undefined) return given as Json
  if (depth >= depthMax || (isNullable && nullNames.has(name))) return null
  if (resolved.enum)
    return (resolved.enum.find((value) => value === hintByName(name)) ?? resolved.enum[0]) as Json
  const alternatives = alternativesOf(resolved)
  if (alternatives[0]) return example(context, alternatives[0], name, depth + 1)
  if (resolved.prefixItems)
    return resolved.prefixItems.map((item) => example(context, item, name, depth + 1))
  if (resolved.type === "array")
    return resolved.items ? [example(context, resolved.items, name, depth + 1)] : []
  if (resolved.type === "object" || resolved.properties)
    return exampleObject(context, resolved, depth)
  if (resolved.type === "integer" || resolved.type === "number") return exampleNumber(resolved)
  if (resolved.type === "boolean") return true
  return resolved.type === "string" ? exampleText(context.schemas, resolved, name) : null
}

function exampleObject(context: Context, schema: Schema, depth: number): Json {
  const properties = Object.entries(schema.properties ?? {})
  const included = context.isRequiredOnly
    ? properties.filter(([name]) => schema.required?.includes(name))
    : properties
  return Object.fromEntries(
    included.map(([name, property]) => [name, example(context, property, name, depth + 1)]),
  )
}

function exampleNumber(schema: Schema): number {
  return Math.min(Math.max(1, schema.minimum ?? 1), schema.maximum ?? Number.MAX_SAFE_INTEGER)
}

function exampleText(schemas: Schemas, schema: Schema, name: string): string {
  const candidates = [hintByName(name), hintsByFormat[schema.format ?? ""], ...hintsByTrial]
  return (
    candidates.find(
      (text) => text !== undefined && checkValue(schemas, schema, text) === undefined,
    ) ?? "text"
  )
}

function hintByName(name: string): string | undefined {
  return Object.hasOwn(hintsByName, name) ? hintsByName[name] : undefined
}
