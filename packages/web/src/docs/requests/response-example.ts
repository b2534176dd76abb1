import type { Language } from "../../ui/code/highlight.ts"
import { isJsonType, isObject, type Json } from "../../ui/code/json.ts"
import { isErrorStatus, type ResponseDefinition } from "../operations/api.ts"
import type { Schemas } from "../schemas/schema.ts"
import { schemaToExample } from "../schemas/schema-to-example.ts"

/** An example of a response. */
export interface ResponseExample {
  /** The status, and the code of an error. */
  readonly label: string
  readonly isError: boolean
  /** Undefined when the response has no body. */
  readonly text: string | undefined
  readonly language: Language
}

/** One example for each success, one for each error code. */
export function toResponseExamples(
  schemas: Schemas,
  responses: readonly ResponseDefinition[],
  meanings: Meanings,
): readonly ResponseExample[] {
  return responses.flatMap((response) => {
    const codes = response.codes.length > 0 ? response.codes : [undefined]
    return codes.map((code) => toExample(schemas, response, code, meanings))
  })
}

type Meanings = Readonly<Record<string, string>>

function toExample(
  schemas: Schemas,
  response: ResponseDefinition,
  code: string | undefined,
  meanings: Meanings,
): ResponseExample {
  const label = code === undefined ? response.status : `${response.status} ${code}`
  const shared = { label, isError: isErrorStatus(response.status) }
  const content = response.contents[0]
  if (!content) return { ...shared, text: undefined, language: "text" }
  if (!isJsonType(content.contentType))
    return { ...shared, text: textExample(content.contentType), language: "text" }
  const value = schemaToExample(schemas, content.schema)
  return {
    ...shared,
    text: JSON.stringify(withCode(response, code, value, meanings), null, 2),
    language: "json",
  }
}

/** All errors share one schema; status and code distinguish them. */
function withCode(
  response: ResponseDefinition,
  code: string | undefined,
  value: Json,
  meanings: Meanings,
): Json {
  if (code === undefined || !isObject(value)) return value
  const { issues, ...rest } = value
  const error = response.description.split(":")[0] ?? ""
  const message = (meanings[code] ?? "…").replaceAll("`", "").replace(/\.$/, "")
  const full = { ...rest, statusCode: Number(response.status), error, code, message }
  return code === "invalid_request" && issues !== undefined ? { ...full, issues } : full
}

function textExample(contentType: string): string {
  if (contentType.includes("javascript")) return 'export default () => "Hello, world"\n'
  if (contentType.includes("html")) return "<!doctype html>\n…\n"
  return "…\n"
}
