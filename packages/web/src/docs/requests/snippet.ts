import type { Language } from "../../ui/code/highlight.ts"
import { isJsonType, isObject, type Json, type JsonObject, parseJson } from "../../ui/code/json.ts"
import { toCurl } from "../../ui/code/to-curl.ts"
import { textToValue } from "../schemas/field-value.ts"
import type { Schemas } from "../schemas/schema.ts"
import { textField } from "./body-draft.ts"
import { type SentRequest, toGo, toPython } from "./other-languages.ts"
import type { ApiRequest, SentParameter } from "./request.ts"

/** The programs that a request is shown as. */
export type SnippetKind = "curl" | "fetch" | "client" | "python" | "go"

/**
 * What a snippet is made from. The token is read from the environment when the snippet runs: a
 * copied snippet contains no secret.
 */
export interface SnippetInput {
  readonly schemas: Schemas
  readonly request: ApiRequest
  readonly baseUrl: string
  readonly hasToken: boolean
}

/** The kinds with the label of their tab and the language for highlighting. */
export const snippetKinds: readonly { kind: SnippetKind; label: string; language: Language }[] = [
  { kind: "curl", label: "curl", language: "shell" },
  { kind: "fetch", label: "fetch", language: "ts" },
  { kind: "client", label: "Client", language: "ts" },
  { kind: "python", label: "Python", language: "python" },
  { kind: "go", label: "Go", language: "go" },
]

/** The request as a program. */
export function toSnippet(kind: SnippetKind, input: SnippetInput): string {
  if (kind === "curl") return toCurl(toSent(input))
  if (kind === "python") return toPython(toSent(input))
  if (kind === "go") return toGo(toSent(input))
  return kind === "fetch" ? toFetch(input) : toClientSnippet(input)
}

function toSent({ request, baseUrl, hasToken }: SnippetInput): SentRequest {
  const { operation, path, body } = request
  const url = baseUrl + path
  const response = howToRead(request)
  return { method: operation.method, url, hasToken, headers: headersOf(request), body, response }
}

function toFetch({ request, baseUrl, hasToken }: SnippetInput): string {
  const { method } = request.operation
  const headers = [
    ...(hasToken ? ["authorization: `Bearer ${process.env.HAMLET_TOKEN}`"] : []),
    ...headersOf(request).map(
      ([name, value]) => `${toJsKey(name.toLowerCase())}: ${JSON.stringify(value)}`,
    ),
  ]
  const options = [
    ...(method === "GET" ? [] : [`method: "${method}"`]),
    ...(headers.length === 0
      ? []
      : [`headers: {\n${headers.map((line) => `    ${line},\n`).join("")}  }`]),
    ...(request.body ? [`body: ${toFetchBody(request.body.text, request.body.contentType)}`] : []),
  ]
  const url = JSON.stringify(baseUrl + request.path)
  const call =
    options.length === 0
      ? `fetch(${url})`
      : `fetch(${url}, {\n${options.map((line) => `  ${line},\n`).join("")}})`
  return `const response = await ${call}\n${readResponse(request)}`
}

function toFetchBody(text: string, contentType: string): string {
  const value = isJsonType(contentType) ? parseJson(text) : undefined
  return value === undefined ? JSON.stringify(text) : `JSON.stringify(${toJsLiteral(value, "  ")})`
}

function readResponse(request: ApiRequest): string {
  const how = howToRead(request)
  return how === "none" ? "console.log(response.status)" : `console.log(await response.${how}())`
}

function howToRead(request: ApiRequest): SentRequest["response"] {
  const contents = successOf(request)?.contents ?? []
  if (contents.length === 0) return "none"
  return contents.some((content) => isJsonType(content.contentType)) ? "json" : "text"
}

function headersOf(request: ApiRequest): readonly (readonly [string, string])[] {
  const sent = request.parameters.filter(({ parameter }) => parameter.location === "header")
  const headers = sent.map(({ parameter, text }) => [parameter.name, text] as const)
  return request.body ? [["Content-Type", request.body.contentType], ...headers] : headers
}

function successOf(request: ApiRequest) {
  return request.operation.responses.find((response) => response.status.startsWith("2"))
}

/**
 * The request as a call of the typed client: one flat object of path, query and body, then the
 * options that are headers on the wire.
 */
function toClientSnippet({ schemas, request, baseUrl, hasToken }: SnippetInput): string {
  const fields = request.parameters
    .filter(({ parameter }) => parameter.location !== "header")
    .map(({ parameter, text }): [string, Json] => [
      parameter.name,
      textToValue(schemas, parameter.schema, text),
    ])
  const input: JsonObject = { ...Object.fromEntries(fields), ...bodyFields(request) }
  const options: JsonObject = Object.assign(
    {},
    ...request.parameters.filter(({ parameter }) => parameter.location === "header").map(toOption),
  )
  // Only the raw method can response that nothing has changed.
  const method = `client.${"ifNoneMatch" in options ? "raw." : ""}${request.operation.id}`
  const inputs = [
    ...(hasFields(input) || hasFields(options) ? [input] : []),
    ...(hasFields(options) ? [options] : []),
  ]
  const hasResponse = request.operation.responses.some(
    (response) => response.status.startsWith("2") && response.contents.length > 0,
  )
  return [
    'import { createClient } from "@hamlet/contract/client"',
    "",
    "const client = createClient({",
    `  baseUrl: ${JSON.stringify(baseUrl)},`,
    ...(hasToken ? ["  token: process.env.HAMLET_TOKEN,"] : []),
    "})",
    ...(canClientSend(request)
      ? []
      : ["// The client sends objects only: this body cannot be sent with it"]),
    `${hasResponse ? "const result = " : ""}await ${method}(${inputs.map(toLines).join(", ")})`,
  ].join("\n")
}

function bodyFields({ body }: ApiRequest): JsonObject {
  if (!body) return {}
  if (!isJsonType(body.contentType)) return { [textField(body.contentType)]: body.text }
  const value = parseJson(body.text)
  return isObject(value) ? value : {}
}

function canClientSend({ body }: ApiRequest): boolean {
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

/** One field per line: the column is narrow. */
function toLines(object: JsonObject): string {
  if (!hasFields(object)) return "{}"
  return `{\n${Object.entries(object)
    .map(([name, value]) => `  ${toJsKey(name)}: ${toJsLiteral(value ?? null, "  ")},\n`)
    .join("")}}`
}

/** A JSON value as TypeScript code. */
function toJsLiteral(value: Json, indent = ""): string {
  const inner = `${indent}  `
  if (Array.isArray(value))
    return wrap(
      "[",
      "]",
      value.map((item: Json) => toJsLiteral(item, inner)),
      indent,
    )
  if (!isObject(value)) return JSON.stringify(value)
  const fields = Object.entries(value).map(
    ([name, field]) => `${toJsKey(name)}: ${toJsLiteral(field ?? null, inner)}`,
  )
  return wrap("{", "}", fields, indent)
}

/** A key of an object literal. */
function toJsKey(name: string): string {
  // Written plainly, `__proto__` would set the prototype instead of a field.
  if (name === "__proto__") return '["__proto__"]'
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
}

const lineCharsMax = 40

function wrap(open: string, close: string, items: readonly string[], indent: string): string {
  if (items.length === 0) return open + close
  const line = items.join(", ")
  const isShort = line.length <= lineCharsMax && !line.includes("\n")
  if (isShort) return open === "{" ? `{ ${line} }` : `[${line}]`
  return `${open}\n${items.map((item) => `${indent}  ${item},\n`).join("")}${indent}${close}`
}
