import { z } from "zod"

/**
 * Makes a JSON schema say what goes over the wire: where a field's `meta` has `wire`, that is what
 * it looks like there; a pattern beside a format says nothing more.
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
  // zod leaves out the default of a field that is transformed, though on our wire both look the
  // same.
  if (zodSchema instanceof z.ZodDefault) jsonSchema.default = zodSchema.def.defaultValue
  if (jsonSchema.format) delete jsonSchema.pattern
}
