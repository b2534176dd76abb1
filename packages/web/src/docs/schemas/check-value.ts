import { resolveSchema, type Schema, type Schemas } from "./schema.ts"

const formats: Readonly<Record<string, { pattern: RegExp; name: string }>> = {
  uuid: { pattern: /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i, name: "a UUID" },
  "date-time": {
    pattern: /^\d{4}-\d\d-\d\d(T\d\d:\d\d.*)?$/i,
    name: "a date or a time in ISO-8601",
  },
  email: { pattern: /^[^@\s]+@[^@\s]+$/, name: "an e-mail address" },
}

/** Advice when a value does not match the schema. It never prevents sending: the server decides. */
export function checkValue(schemas: Schemas, schema: Schema, text: string): string | undefined {
  const { schema: resolved } = resolveSchema(schemas, schema)
  if (resolved.enum && !resolved.enum.includes(text))
    return `should be one of ${resolved.enum.join(", ")}`
  if (resolved.type === "integer" || resolved.type === "number") return checkNumber(resolved, text)
  if (resolved.type === "string") return checkText(resolved, text)
  return undefined
}

function checkNumber(schema: Schema, text: string): string | undefined {
  const value = Number(text)
  if (text.trim() === "" || Number.isNaN(value)) return "should be a number"
  if (schema.type === "integer" && !Number.isInteger(value)) return "should be a whole number"
  if (schema.minimum !== undefined && value < schema.minimum)
    return `should be at least ${schema.minimum}`
  if (schema.maximum !== undefined && value > schema.maximum)
    return `should be at most ${schema.maximum}`
  return undefined
}

function checkText(schema: Schema, text: string): string | undefined {
  if (schema.minLength !== undefined && text.length < schema.minLength)
    return `should have at least ${schema.minLength} characters`
  if (schema.maxLength !== undefined && text.length > schema.maxLength)
    return `should have at most ${schema.maxLength} characters`
  const format = formats[schema.format ?? ""]
  if (format && !format.pattern.test(text)) return `should be ${format.name}`
  if (schema.pattern !== undefined && !matches(schema.pattern, text))
    return `should match ${schema.pattern}`
  return undefined
}

function matches(pattern: string, text: string): boolean {
  try {
    return new RegExp(pattern, "u").test(text)
  } catch {
    // The pattern is in another regular expression dialect.
    return true
  }
}
