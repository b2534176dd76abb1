import { isJsonType, textField } from "../requests/body-draft.ts"
import type { ApiRequest, SentParameter } from "../requests/request.ts"
import { textToValue } from "../schemas/field-value.ts"
import { isObject, type Json, type JsonObject, parseJson } from "../schemas/json.ts"
import { toJsKey, toJsLiteral } from "./js-literal.ts"
import type { SnippetInput } from "./snippet-input.ts"

/**
 * The request as a call of the typed client: one flat object of path, query and body, then the
 * options that are headers on the wire.
 */
export function toClientSnippet({ schemas, request, baseUrl, hasToken }: SnippetInput): string {
  const fields = request.parameters
    .filter(({ parameter }) => parameter.place !== "header")
    .map(({ parameter, text }): [string, Json] => [
      parameter.name,
      textToValue(schemas, parameter.schema, text),
    ])
  const input: JsonObject = { ...Object.fromEntries(fields), ...bodyFields(request) }
  const options: JsonObject = Object.assign(
    {},
    ...request.parameters.filter(({ parameter }) => parameter.place === "header").map(toOption),
  )
  // Only the raw method can answer that nothing has changed.
  const method = `client.${"ifNoneMatch" in options ? "raw." : ""}${request.operation.id}`
  const inputs = [
    ...(hasFields(input) || hasFields(options) ? [input] : []),
    ...(hasFields(options) ? [options] : []),
  ]
  const hasAnswer = request.operation.answers.some(
    (answer) => answer.status.startsWith("2") && answer.contents.length > 0,
  )
  return [
    'import { createClient } from "@hamlet/contract/client"',
    "",
    "const client = createClient({",
    `  baseUrl: ${JSON.stringify(baseUrl)},`,
    ...(hasToken ? ["  token: process.env.HAMLET_TOKEN,"] : []),
    "})",
    ...(isSayable(request)
      ? []
      : ["// The client sends objects only: this body cannot be sent with it"]),
    `${hasAnswer ? "const answer = " : ""}await ${method}(${inputs.map(toLines).join(", ")})`,
  ].join("\n")
}

function bodyFields({ body }: ApiRequest): JsonObject {
  if (!body) return {}
  if (!isJsonType(body.contentType)) return { [textField(body.contentType)]: body.text }
  const value = parseJson(body.text)
  return isObject(value) ? value : {}
}

function isSayable({ body }: ApiRequest): boolean {
  return !body || !isJsonType(body.contentType) || isObject(parseJson(body.text))
}

function toOption({ parameter, text }: SentParameter): JsonObject {
  const version = /^"?(\d+)"?$/.exec(text)?.[1]
  switch (parameter.name.toLowerCase()) {
    case "if-match":
      return version === undefined ? {} : { ifMatch: Number(version) }
    case "if-none-match":
      return { ifNoneMatch: text }
    case "idempotency-key":
      return { idempotencyKey: text }
    default:
      return {}
  }
}

function hasFields(object: JsonObject): boolean {
  return Object.keys(object).length > 0
}

/** One field per line, whatever its length: the column is narrow, and calls then look alike. */
function toLines(object: JsonObject): string {
  if (!hasFields(object)) return "{}"
  return `{\n${Object.entries(object)
    .map(([name, value]) => `  ${toJsKey(name)}: ${toJsLiteral(value ?? null, "  ")},\n`)
    .join("")}}`
}
