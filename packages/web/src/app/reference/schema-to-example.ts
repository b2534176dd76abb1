import type { Json } from "../../ui/code/json.ts"
import { alternativesOf, resolveSchema, type Schema, type Schemas } from "./schema.ts"

// Deeper than the document; a schema that contains itself ends here.
const depthMax = 8

/** A value with the required fields of a schema, to start typing from. */
export function schemaToExample(schemas: Schemas, schema: Schema, depth = 0): Json {
  const { schema: resolved, isNullable } = resolveSchema(schemas, schema)
  const given = resolved.examples?.[0] ?? resolved.const ?? resolved.default ?? resolved.enum?.[0]
  if (given !== undefined) return given as Json
  if (isNullable || depth >= depthMax) return null
  const [alternative] = alternativesOf(resolved)
  const inner = (one: Schema) => schemaToExample(schemas, one, depth + 1)
  if (alternative) return inner(alternative)
  if (resolved.prefixItems) return resolved.prefixItems.map(inner)
  if (resolved.type === "array") return resolved.items ? [inner(resolved.items)] : []
  if (resolved.type === "integer" || resolved.type === "number") return resolved.minimum ?? 0
  if (resolved.type === "boolean") return false
  if (resolved.type === "string") return ""
  return Object.fromEntries(
    (resolved.required ?? []).map((name) => [name, inner(resolved.properties?.[name] ?? {})]),
  )
}
