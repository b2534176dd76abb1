import { z } from "zod"
import type { RouteDefinition } from "../../src/route.ts"
import { toCursorText } from "../../src/schemas/cursor.ts"

type JsonSchema = {
  type?: string
  format?: string
  enum?: unknown[]
  minimum?: number
  items?: JsonSchema
  anyOf?: JsonSchema[]
  examples?: unknown[]
  wire?: JsonSchema
}

/** What a caller would write for the fields that have rules of their own. */
const byName: Readonly<Record<string, unknown>> = {
  username: "ada",
  val_name: "hello@3",
  name: "HELLO",
  email: "ada@example.com",
  query: "a+b&c=d é/%",
  key: "a/b c/../é%2F?x#",
  variable: "hello_1",
  code: 'export default "é\u2028😀"\n',
  hosts: ["api.example.com:443"],
  imageUrl: "data:image/png;base64,iVBORw0KGgo=",
  method: "PATCH",
  path: "/a?b=%20",
  headers: [["x-a", "1"]],
  cursor: toCursorText([1]),
  branch_ids: ["01890000-0000-7000-8000-000000000000"],
  trace_ids: ["0189000000007000800000000000000a"],
  resolved: [{ path: "a.ts", content: "é" }],
  // There is a text already.
  bodyBase64: "",
}

const sampleWebhook = {
  url: "https://example.com/?a=%C3%A9",
  events: ["val.saved"],
  isPaused: true,
  valId: null,
  description: "é",
}

const sampleEmail = {
  to: ["ada@example.com", { email: "bob@example.com", name: "Bob" }],
  cc: "c@example.com",
  subject: "é",
  text: "a\n",
  html: "<b>é</b>",
  headers: { "X-A": "1" },
  attachments: [{ content: "AQI=", filename: "é.txt", disposition: "attachment" }],
}

/** What a caller would write for files. */
const sampleFile = {
  path: "src/a.ts",
  branch_id: "0190a6b1-7e3c-7c4d-8f5e-0123456789ab",
  type: "http",
  content: "é\n",
}

/** Bodies whose fields exclude each other. */
const bodySamples: Readonly<Record<string, Record<string, unknown>>> = {
  "post /v1/me/webhooks": sampleWebhook,
  "post /v2/vals/{val_id}/files": sampleFile,
  "put /v2/vals/{val_id}/files": { ...sampleFile, name: "b.ts", parent_path: null },
  "post /v1/vals/{val_id}/files": {
    branch_id: sampleFile.branch_id,
    note: "é",
    changes: [{ path: "a", content: "" }],
  },
  "put /v1/me/webhooks/{webhook_id}": sampleWebhook,
  "post /v2/vals/{val_id}/environment_variables": { key: "a_1", value: "é", description: "é" },
  "post /v1/vals/{val_id}/emails": {
    from: "ada@example.com",
    subject: "é",
    text: "a\n",
    file: sampleFile.path,
    branch: "main",
  },
  "put /v1/vals/{val_id}/schedule": {
    cron: "0 9 * * 1-5",
    timeZone: "Europe/Berlin",
    isPaused: false,
    overlap: "queue",
    catchUp: "one",
    file: sampleFile.path,
    branch: "main",
  },
}

/** An input for the route that names every field it has, made from the route's own schemas. */
export function toSampleInput(route: RouteDefinition): Record<string, unknown> {
  const hasFilePath =
    (/^\/v2\/vals\/.*\/files/.test(route.path) && route.query !== undefined) ||
    /^\/v1\/vals\/.*\/(?:history|restore)$/.test(route.path)
  // A session is created with one of two fields.
  if (route.path === "/v1/sessions") return { token: "text & more" }
  if (route.path === "/v1/email") return sampleEmail
  const sample = bodySamples[`${route.method} ${route.path}`]
  if (sample) return { ...(route.params ? toSampleFields(route.params) : {}), ...sample }
  const places = [route.params, route.query, route.body].filter((place) => place !== undefined)
  return Object.assign(
    {},
    ...places.map(toSampleFields),
    hasFilePath ? { path: sampleFile.path } : {},
    route.isBytesBody ? { content: "é\n", contentType: "text/x; a=b" } : {},
  )
}

function toSampleFields(schema: z.ZodType): Record<string, unknown> {
  const { properties = {} } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as {
    properties?: Record<string, JsonSchema>
  }
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [
      name,
      byName[name] ?? toSample(property),
    ]),
  )
}

function toSample(schema: JsonSchema): unknown {
  const { type, format, enum: choices, minimum, items, anyOf, examples } = schema.wire ?? schema
  if (examples) return examples[0]
  if (anyOf) return toSample(anyOf[0] as JsonSchema)
  if (choices) return choices.at(-1)
  if (format === "date-time") return new Date(Date.UTC(2024, 1, 29, 12, 30, 0, 7))
  if (format === "uuid" || format === "guid") return "0190a6b1-7e3c-7c4d-8f5e-0123456789ab"
  if (type === "integer" || type === "number") return (minimum ?? 0) + 7
  if (type === "boolean") return false
  if (type === "array") return [toSample(items ?? {})]
  if (type === "object") return {}
  return "text & more"
}
