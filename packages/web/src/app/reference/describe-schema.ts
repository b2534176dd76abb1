import { alternativesOf, resolveSchema, type Schema, type Schemas } from "./schema.ts"

/** A row of an expanded schema: a field of an object, or one alternative of a union. */
export interface SchemaField {
  readonly name: string
  readonly kind: "field" | "alternative"
  readonly isRequired: boolean
  readonly schema: Schema
}

/** The type in a few words: `string · uuid`, `page of Val`, `Run or null`. */
export function describeType(schemas: Schemas, schema: Schema): string {
  const { schema: resolved, name, isNullable } = resolveSchema(schemas, schema)
  return `${name ?? describeBareType(schemas, resolved)}${isNullable ? " or null" : ""}`
}

function describeBareType(schemas: Schemas, schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  const alternatives = alternativesOf(schema)
  if (alternatives.length > 0)
    return alternatives.map((one) => describeType(schemas, one)).join(" or ")
  const { data, links } = schema.properties ?? {}
  if (links && data?.type === "array" && data.items)
    return `page of ${describeType(schemas, data.items)}`
  if (schema.type === "array")
    return schema.items ? `array of ${describeType(schemas, schema.items)}` : "array"
  if (typeof schema.type !== "string")
    return schema.type?.join(" or ") ?? (schema.properties ? "object" : "anything")
  return schema.format ? `${schema.type} · ${schema.format}` : schema.type
}

/** The constraints of a value, each in a few words. */
export function describeConstraints(schemas: Schemas, schema: Schema): readonly string[] {
  const { schema: resolved } = resolveSchema(schemas, schema)
  const standard = schema.default ?? resolved.default
  return [
    describeRange(resolved.minLength || undefined, resolved.maxLength, "character"),
    describeRange(shownBound(resolved.minimum), shownBound(resolved.maximum), ""),
    describeRange(resolved.minItems, resolved.maxItems, "item"),
    standard === undefined ? undefined : `default ${JSON.stringify(standard)}`,
    resolved.pattern === undefined ? undefined : `matches \`${resolved.pattern}\``,
  ].filter((text) => text !== undefined)
}

/** The allowed values, where the schema or its items have an enum. */
export function allowedValues(schemas: Schemas, schema: Schema): readonly string[] {
  const { schema: resolved } = resolveSchema(schemas, schema)
  const listed =
    resolved.enum ??
    (resolved.items ? resolveSchema(schemas, resolved.items).schema.enum : undefined)
  return (listed ?? []).map((value) => (typeof value === "string" ? value : JSON.stringify(value)))
}

/** The rows of a schema; none for a plain value. An array has the rows of its items. */
export function expandSchema(schemas: Schemas, schema: Schema): readonly SchemaField[] {
  // Nested arrays are followed up to a limit.
  let { schema: resolved } = resolveSchema(schemas, schema)
  for (let depth = 0; depth < 8 && resolved.items; depth++)
    resolved = resolveSchema(schemas, resolved.items).schema
  const alternatives = alternativesOf(resolved)
  if (alternatives.length > 0) {
    if (alternatives.every((one) => expandsToNothing(schemas, one))) return []
    return alternatives.map((one) => ({
      name: describeType(schemas, one),
      kind: "alternative",
      isRequired: false,
      schema: one,
    }))
  }
  const toField = (name: string, schema: Schema): SchemaField => ({
    name,
    kind: "field",
    isRequired: resolved.required?.includes(name) ?? false,
    schema,
  })
  const fields = Object.entries(resolved.properties ?? {}).map(([name, property]) =>
    toField(name, property),
  )
  if (
    typeof resolved.additionalProperties !== "object" ||
    Object.keys(resolved.additionalProperties).length === 0
  )
    return fields
  return [...fields, toField("any other key", resolved.additionalProperties)]
}

function expandsToNothing(schemas: Schemas, schema: Schema): boolean {
  const { schema: resolved } = resolveSchema(schemas, schema)
  return !resolved.properties && !resolved.items
}

// Larger bounds are generated for every number: not worth showing.
const boundMax = 1e12

function shownBound(value: number | undefined): number | undefined {
  return value === undefined || Math.abs(value) >= boundMax ? undefined : value
}

function describeRange(
  min: number | undefined,
  max: number | undefined,
  unit: string,
): string | undefined {
  if (min === undefined && max === undefined) return undefined
  const format = (value: number) => value.toLocaleString("en-US")
  const units = unit && ` ${unit}${(max ?? min) === 1 ? "" : "s"}`
  if (min === undefined) return `at most ${format(max as number)}${units}`
  if (max === undefined) return `at least ${format(min)}${units}`
  return min === max ? `exactly ${format(min)}${units}` : `${format(min)} to ${format(max)}${units}`
}
