import { smallValues } from "../../freeze/worst-values.ts"
import type { Schema } from "../../fuzz/operations.ts"
import { toControl } from "../world/world-limits.ts"

/** Bytes of a control character in JSON. */
const controlBytes = 6
const objectBytes = 20

/**
 * The value of a schema that is longest as JSON, in about so many bytes. What fits a pattern or a
 * format is not long, and comes from the row of the route.
 */
export function largestValue(schema: Schema, bytes: number): unknown {
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return largestValue(choices[0] ?? {}, bytes)
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum[0]
  if (schema.type === "object") return largestObject(schema, bytes)
  if (schema.type === "array") return largestArray(schema, bytes)
  if (schema.type === "integer") return schema.maximum ?? 1
  if (schema.type === "boolean") return true
  if (schema.type === "null") return null
  if (schema.type === "string") return largestText(schema, bytes)
  return JSON.parse(smallValues(bytes))
}

function largestText(schema: Schema, bytes: number): string | undefined {
  if (schema.pattern !== undefined || schema.format !== undefined) return undefined
  return toControl(
    Math.min(schema.maxLength ?? Number.MAX_VALUE, Math.max(0, Math.floor(bytes / controlBytes))),
  )
}

/** Fields that must be there come first; what has no value is left out. */
function largestObject(schema: Schema, bytes: number): object {
  const required = new Set(schema.required)
  const fields = Object.entries(schema.properties ?? {}).toSorted(
    ([one], [other]) => Number(required.has(other)) - Number(required.has(one)),
  )
  let left = bytes
  const made: Record<string, unknown> = {}
  for (const [name, inner] of fields) {
    const value = largestValue(inner, left - objectBytes)
    if (value === undefined) continue
    made[name] = value
    left -= (JSON.stringify(value)?.length ?? 0) + name.length + objectBytes
  }
  return made
}

function largestArray(schema: Schema, bytes: number): unknown[] {
  const count = schema.maxItems ?? 1
  if (schema.items?.enum) return schema.items.enum.slice(0, count)
  return Array.from({ length: count }, () => largestValue(schema.items ?? {}, bytes / count))
}
