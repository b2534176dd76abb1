import { z } from "zod"

/**
 * Adapts a JSON schema to the wire format: a field's `meta.wire` replaces it; a pattern beside a
 * format is redundant; a tuple has exactly its items.
 */
export function fixSchema({
  zodSchema,
  jsonSchema,
}: {
  zodSchema: unknown
  jsonSchema: Record<string, unknown>
}): void {
  if (typeof jsonSchema.wire === "object") {
    const { wire } = jsonSchema
    for (const key of Object.keys(jsonSchema)) delete jsonSchema[key]
    Object.assign(jsonSchema, wire)
  }
  // zod omits the default of a transformed field, though our wire format is the same on both sides.
  if (zodSchema instanceof z.ZodDefault) jsonSchema.default = zodSchema.def.defaultValue
  if (jsonSchema.format) delete jsonSchema.pattern
  const { prefixItems } = jsonSchema
  if (Array.isArray(prefixItems))
    Object.assign(jsonSchema, {
      // Generators and linters of OpenAPI expect a schema beside `type: array`.
      items: prefixItems.at(-1),
      minItems: prefixItems.length,
      maxItems: prefixItems.length,
    })
}
