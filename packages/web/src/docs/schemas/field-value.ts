import { type Json, parseJson } from "../../ui/code/json.ts"
import { resolveSchema, type Schema, type Schemas } from "./schema.ts"

/** The input for a value. Values without an input of their own are typed as JSON. */
export type FieldKind = "line" | "lines" | "number" | "choice" | "choices" | "list" | "json"

// Longer texts get a text area.
const lineCharsMax = 300

/** The input that fits a schema. */
export function fieldKind(schemas: Schemas, schema: Schema): FieldKind {
  const { schema: resolved } = resolveSchema(schemas, schema)
  if (resolved.type === "boolean" || resolved.enum) return "choice"
  if (resolved.type === "integer" || resolved.type === "number") return "number"
  if (resolved.type === "string") return (resolved.maxLength ?? 0) > lineCharsMax ? "lines" : "line"
  if (resolved.type !== "array" || !resolved.items) return "json"
  const item = resolveSchema(schemas, resolved.items).schema
  if (item.enum) return "choices"
  return item.type === "string" ? "list" : "json"
}

/** The items of a typed list: one per line. */
export function toItems(text: string): readonly string[] {
  return text.split("\n").filter((item) => item !== "")
}

/** The JSON value of typed text. Invalid input stays text, and the server reports what is wrong. */
export function textToValue(schemas: Schemas, schema: Schema, text: string): Json {
  const { schema: resolved } = resolveSchema(schemas, schema)
  switch (fieldKind(schemas, schema)) {
    case "choices":
    case "list":
      return toItems(text)
    case "number":
      return text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text
    case "choice":
      return resolved.type === "string" ? text : (parseJson(text) ?? text)
    case "json":
      return parseJson(text) ?? text
    default:
      return text
  }
}

/** The inverse of `textToValue`. */
export function valueToText(value: Json | undefined): string {
  if (value === undefined || value === null) return ""
  if (Array.isArray(value) && value.every((item) => typeof item === "string"))
    return value.join("\n")
  return typeof value === "string" ? value : JSON.stringify(value)
}
