import { isJsonType } from "../requests/body-draft.ts"
import type { ApiRequest } from "../requests/request.ts"
import { parseJson } from "../schemas/json.ts"
import type { Language } from "./highlight.ts"
import { toJsKey, toJsLiteral } from "./js-literal.ts"
import { toClientSnippet } from "./snippet-client.ts"
import type { SnippetInput } from "./snippet-input.ts"

/** The ways to write a request down. */
export type SnippetKind = "curl" | "fetch" | "client"

/** The kinds of snippets with the name of their tab and the language they are coloured as. */
export const snippetKinds: readonly { kind: SnippetKind; label: string; language: Language }[] = [
  { kind: "curl", label: "curl", language: "shell" },
  { kind: "fetch", label: "fetch", language: "ts" },
  { kind: "client", label: "Client", language: "ts" },
]

/** The request as a program. */
export function toSnippet(kind: SnippetKind, input: SnippetInput): string {
  if (kind === "curl") return toCurl(input)
  return kind === "fetch" ? toFetch(input) : toClientSnippet(input)
}

function toCurl({ request, baseUrl, hasToken }: SnippetInput): string {
  const { method } = request.operation
  const lines = [
    `curl ${method === "GET" ? "" : `-X ${method} `}${quote(baseUrl + request.path)}`,
    ...(hasToken ? ['-H "Authorization: Bearer $HAMLET_TOKEN"'] : []),
    ...headersOf(request).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    // Not --data: it reads a file when the text begins with @.
    ...(request.body ? [`--data-raw ${quote(request.body.text)}`] : []),
  ]
  return lines.join(" \\\n  ")
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
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
  return `const response = await ${call}\n${readAnswer(request)}`
}

function toFetchBody(text: string, contentType: string): string {
  const value = isJsonType(contentType) ? parseJson(text) : undefined
  return value === undefined ? JSON.stringify(text) : `JSON.stringify(${toJsLiteral(value, "  ")})`
}

function readAnswer(request: ApiRequest): string {
  const contents = successOf(request)?.contents ?? []
  if (contents.length === 0) return "console.log(response.status)"
  return `console.log(await response.${contents.some((content) => isJsonType(content.contentType)) ? "json" : "text"}())`
}

function headersOf(request: ApiRequest): readonly (readonly [string, string])[] {
  const sent = request.parameters.filter(({ parameter }) => parameter.place === "header")
  const headers = sent.map(({ parameter, text }) => [parameter.name, text] as const)
  return request.body ? [["Content-Type", request.body.contentType], ...headers] : headers
}

function successOf(request: ApiRequest) {
  return request.operation.answers.find((answer) => answer.status.startsWith("2"))
}
