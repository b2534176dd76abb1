import { type AnswerDefinition, isErrorStatus } from "../operations/api.ts"
import { isObject, type Json } from "../schemas/json.ts"
import type { Schemas } from "../schemas/schema.ts"
import { schemaToExample } from "../schemas/schema-to-example.ts"
import type { Language } from "../snippets/highlight.ts"
import { isJsonType } from "./body-draft.ts"

/** An answer as it may look. */
export interface AnswerExample {
  /** The status, and the code of an error. */
  readonly label: string
  readonly isError: boolean
  /** Undefined where the answer has no body. */
  readonly text: string | undefined
  readonly language: Language
}

/** The examples of an operation's answers: one for each success, one for each code of an error. */
export function toAnswerExamples(
  schemas: Schemas,
  answers: readonly AnswerDefinition[],
  meanings: Meanings,
): readonly AnswerExample[] {
  return answers.flatMap((answer) => {
    const codes = answer.codes.length > 0 ? answer.codes : [undefined]
    return codes.map((code) => toExample(schemas, answer, code, meanings))
  })
}

type Meanings = Readonly<Record<string, string>>

function toExample(
  schemas: Schemas,
  answer: AnswerDefinition,
  code: string | undefined,
  meanings: Meanings,
): AnswerExample {
  const label = code === undefined ? answer.status : `${answer.status} ${code}`
  const shared = { label, isError: isErrorStatus(answer.status) }
  const content = answer.contents[0]
  if (!content) return { ...shared, text: undefined, language: "text" }
  if (!isJsonType(content.contentType))
    return { ...shared, text: textExample(content.contentType), language: "text" }
  const value = schemaToExample(schemas, content.schema)
  return {
    ...shared,
    text: JSON.stringify(withCode(answer, code, value, meanings), null, 2),
    language: "json",
  }
}

/** All errors have one schema; what tells them apart is the status and its codes. */
function withCode(
  answer: AnswerDefinition,
  code: string | undefined,
  value: Json,
  meanings: Meanings,
): Json {
  if (code === undefined || !isObject(value)) return value
  const { issues, ...rest } = value
  const error = answer.description.split(":")[0] ?? ""
  const message = (meanings[code] ?? "…").replaceAll("`", "").replace(/\.$/, "")
  const known = { ...rest, statusCode: Number(answer.status), error, code, message }
  return code === "invalid_request" && issues !== undefined ? { ...known, issues } : known
}

function textExample(contentType: string): string {
  if (contentType.includes("javascript")) return 'export default () => "Hello, world"\n'
  if (contentType.includes("html")) return "<!doctype html>\n…\n"
  return "…\n"
}
