import { isJsonType, isObject, type Json, type JsonObject, parseJson } from "../../ui/code/json.ts"
import type { Content, RequestBody } from "../operations/api.ts"
import { textToValue, valueToText } from "../schemas/field-value.ts"
import { resolveSchema, type Schema, type Schemas } from "../schemas/schema.ts"
import { schemaToExample } from "../schemas/schema-to-example.ts"

/** How a body is typed: field by field, as JSON, or as plain text. */
export type BodyMode = "fields" | "json" | "text"

/** A body as typed into the form. */
export interface BodyDraft {
  readonly mode: BodyMode
  readonly fields: Readonly<Record<string, string>>
  readonly json: string
  readonly text: string
}

/** A body as it is sent. */
export interface BodyText {
  readonly contentType: string
  readonly text: string
}

/** The modes for a body, the best first. */
export function bodyModes(schemas: Schemas, body: RequestBody): readonly BodyMode[] {
  const json = jsonContent(body)
  const hasFields =
    json !== undefined && resolveSchema(schemas, json.schema).schema.properties !== undefined
  return [
    ...(hasFields ? (["fields"] as const) : []),
    ...(json ? (["json"] as const) : []),
    ...(textContent(body) ? (["text"] as const) : []),
  ]
}

/** The JSON form of a body, if it has one. */
export function jsonContent(body: RequestBody): Content | undefined {
  return body.contents.find((content) => isJsonType(content.contentType))
}

/** The form of a body that is not JSON, if it has one. */
export function textContent(body: RequestBody): Content | undefined {
  return body.contents.find((content) => !isJsonType(content.contentType))
}

/** The field of the typed client for a body that is not JSON: blob content, or code. */
export function textField(contentType: string): "content" | "code" {
  return contentType === "application/octet-stream" ? "content" : "code"
}

/**
 * The body as it would be sent. When `isFilled`, an example replaces empty required fields, so that
 * a snippet is complete.
 */
export function toBodyText(
  schemas: Schemas,
  body: RequestBody,
  draft: BodyDraft,
  isFilled: boolean,
): BodyText | undefined {
  const json = jsonContent(body)
  if (draft.mode === "text") {
    const content = textContent(body)
    const example =
      isFilled && content
        ? schemaToExample(schemas, content.schema, { name: textField(content.contentType) })
        : ""
    return content
      ? { contentType: content.contentType, text: draft.text || String(example) }
      : undefined
  }
  if (!json) return undefined
  const text =
    draft.mode === "json" && (draft.json !== "" || !isFilled)
      ? draft.json
      : JSON.stringify(fieldsToObject(schemas, json.schema, draft.fields, isFilled), null, 2)
  return { contentType: json.contentType, text }
}

/** Changes the mode and keeps the content; undefined when the fields cannot hold all of the JSON. */
export function switchBodyMode(
  schemas: Schemas,
  body: RequestBody,
  draft: BodyDraft,
  mode: BodyMode,
): BodyDraft | undefined {
  const schema = jsonContent(body)?.schema
  if (!schema || mode === draft.mode || mode === "text" || draft.mode === "text")
    return { ...draft, mode }
  if (mode === "json")
    return {
      ...draft,
      mode,
      json: JSON.stringify(fieldsToObject(schemas, schema, draft.fields, false), null, 2),
    }
  if (draft.json.trim() === "") return { ...draft, mode, fields: {} }
  const value = parseJson(draft.json)
  if (!isObject(value)) return undefined
  const fields = Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, valueToText(inner)]),
  )
  return isSame(fieldsToObject(schemas, schema, fields, false), value)
    ? { ...draft, mode, fields }
    : undefined
}

/** An example with all required fields. */
export function exampleFields(schemas: Schemas, schema: Schema): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(fieldsToObject(schemas, schema, {}, true)).map(([name, value]) => [
      name,
      valueToText(value),
    ]),
  )
}

function fieldsToObject(
  schemas: Schemas,
  schema: Schema,
  fields: Readonly<Record<string, string>>,
  isFilled: boolean,
): JsonObject {
  const { schema: resolved } = resolveSchema(schemas, schema)
  const isUntouched = Object.values(fields).every((text) => text === "")
  // Where nothing is required, the example would be empty.
  const isFilledWhole = isFilled && isUntouched && !resolved.required?.length
  const entries = Object.entries(resolved.properties ?? {}).flatMap(
    ([name, property]): [string, Json][] => {
      const text = fields[name] ?? ""
      const isRequired = resolved.required?.includes(name) ?? false
      if (text !== "") return [[name, textToValue(schemas, property, text)]]
      if (isFilledWhole || (isFilled && isRequired))
        return [[name, schemaToExample(schemas, property, { name })]]
      return isRequired && isEmptyFit(schemas, property) ? [[name, ""]] : []
    },
  )
  return Object.fromEntries(entries)
}

function isEmptyFit(schemas: Schemas, schema: Schema): boolean {
  const { schema: resolved } = resolveSchema(schemas, schema)
  return (
    resolved.type === "string" &&
    !resolved.minLength &&
    !resolved.enum &&
    !resolved.format &&
    !resolved.pattern
  )
}

function isSame(one: JsonObject, other: JsonObject): boolean {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])]
  return names.every((name) => JSON.stringify(one[name]) === JSON.stringify(other[name]))
}
