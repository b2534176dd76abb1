import { isJsonType, isObject, type Json, parseJson } from "../../ui/code/json.ts"
import type { CurlRequest } from "../../ui/code/to-curl.ts"

/** A request, as programs in other languages send it. */
export interface SentRequest extends CurlRequest {
  readonly body: { readonly text: string; readonly contentType: string } | undefined
  /** How the response is shown. */
  readonly response: "json" | "text" | "none"
}

/** The request as a Python program, with the standard library alone. */
export function toPython({ method, url, hasToken, headers, body, response }: SentRequest): string {
  const value = body && isJsonType(body.contentType) ? parseJson(body.text) : undefined
  const fields = [
    ...(hasToken ? ['"Authorization": "Bearer " + os.environ["HAMLET_TOKEN"]'] : []),
    ...headers.map(([name, text]) => `${JSON.stringify(name)}: ${JSON.stringify(text)}`),
  ]
  const data =
    value === undefined
      ? `${JSON.stringify(body?.text ?? "")}.encode()`
      : `json.dumps(${toPythonLiteral(value, "    ")}).encode()`
  const needsJson = response === "json" || value !== undefined
  return [
    ...(needsJson ? ["import json"] : []),
    ...(hasToken ? ["import os"] : []),
    "import urllib.request",
    "",
    "request = urllib.request.Request(",
    `    ${JSON.stringify(url)},`,
    ...(method === "GET" ? [] : [`    method="${method}",`]),
    ...(fields.length === 0
      ? []
      : ["    headers={", ...fields.map((field) => `        ${field},`), "    },"]),
    ...(body ? [`    data=${data},`] : []),
    ")",
    "with urllib.request.urlopen(request) as response:",
    `    print(${pythonReaders[response]})`,
  ].join("\n")
}

const pythonReaders = {
  json: "json.load(response)",
  text: "response.read().decode()",
  none: "response.status",
} as const

/** A JSON value as Python. Strings of JSON are strings of Python. */
function toPythonLiteral(value: Json, indent: string): string {
  if (value === null) return "None"
  if (typeof value === "boolean") return value ? "True" : "False"
  const inner = `${indent}    `
  const wrap = (open: string, close: string, items: readonly string[]) =>
    items.length === 0
      ? open + close
      : `${open}\n${items.map((item) => `${inner}${item},\n`).join("")}${indent}${close}`
  if (Array.isArray(value))
    return wrap(
      "[",
      "]",
      value.map((item: Json) => toPythonLiteral(item, inner)),
    )
  if (!isObject(value)) return JSON.stringify(value)
  return wrap(
    "{",
    "}",
    Object.entries(value).map(
      ([name, field]) => `${JSON.stringify(name)}: ${toPythonLiteral(field ?? null, inner)}`,
    ),
  )
}

/** The request as a Go program. Go refuses an import that is not used. */
export function toGo({ method, url, hasToken, headers, body, response }: SentRequest): string {
  const imports = [
    "fmt",
    ...(response === "none" ? [] : ["io"]),
    "net/http",
    ...(hasToken ? ["os"] : []),
    ...(body ? ["strings"] : []),
  ]
  const content = body ? `strings.NewReader(${toGoText(body.text)})` : "nil"
  return [
    "package main",
    "",
    "import (",
    ...imports.map((name) => `\t"${name}"`),
    ")",
    "",
    "func main() {",
    `\trequest, err := http.NewRequest("${method}", ${toGoText(url)}, ${content})`,
    ...goPanic,
    ...(hasToken
      ? ['\trequest.Header.Set("Authorization", "Bearer "+os.Getenv("HAMLET_TOKEN"))']
      : []),
    ...headers.map(([name, text]) => `\trequest.Header.Set(${toGoText(name)}, ${toGoText(text)})`),
    "\tresponse, err := http.DefaultClient.Do(request)",
    ...goPanic,
    "\tdefer response.Body.Close()",
    ...(response === "none"
      ? ["\tfmt.Println(response.Status)"]
      : [
          "\tcontent, err := io.ReadAll(response.Body)",
          ...goPanic,
          "\tfmt.Println(response.Status, string(content))",
        ]),
    "}",
  ].join("\n")
}

const goPanic = ["\tif err != nil {", "\t\tpanic(err)", "\t}"]

/** A string of Go: in backquotes if it has several lines, which cannot contain a backquote or CR. */
function toGoText(text: string): string {
  const isRaw = /["\\\n]/.test(text) && !/[`\r\0\ufeff]/.test(text)
  // A string of JSON is one of Go, except for half a surrogate pair.
  return isRaw ? `\`${text}\`` : JSON.stringify(text.toWellFormed())
}
