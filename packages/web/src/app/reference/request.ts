import { isJsonType } from "../../ui/code/json.ts"
import type { Operation, Parameter } from "./document.ts"
import type { Schemas } from "./schema.ts"
import { schemaToExample } from "./schema-to-example.ts"

/** The content of the form of an operation. */
export interface RequestDraft {
  /** By `parameterKey`. */
  readonly parameters: Readonly<Record<string, string>>
  /** Empty for an operation without a body. */
  readonly contentType: string
  readonly body: string
}

/** A request as the form describes it, without the token: the command must not contain it. */
export interface ApiRequest {
  readonly method: string
  /** Path and query, encoded. */
  readonly path: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: { readonly text: string } | undefined
  readonly needsToken: boolean
}

/** The form of an operation before anything is typed. */
export function emptyDraft(schemas: Schemas, operation: Operation): RequestDraft {
  const [contentType = ""] = Object.keys(operation.requestBody?.content ?? {})
  return { parameters: {}, contentType, body: toBodyExample(schemas, operation, contentType) }
}

/** A body to start typing from. */
export function toBodyExample(schemas: Schemas, operation: Operation, contentType: string): string {
  const content = operation.requestBody?.content[contentType]
  return content && isJsonType(contentType)
    ? JSON.stringify(schemaToExample(schemas, content.schema), null, 2)
    : ""
}

/** A parameter's key in the draft: the same name may be in the path and in the query. */
export function parameterKey(parameter: Parameter): string {
  return `${parameter.in} ${parameter.name}`
}

/** The request that a draft describes. Path parameters without a value stay in braces. */
export function toRequest(operation: Operation, draft: RequestDraft): ApiRequest {
  const typed = (place: Parameter["in"]) =>
    operation.parameters
      .filter((parameter) => parameter.in === place)
      .map(
        (parameter) => [parameter.name, draft.parameters[parameterKey(parameter)] ?? ""] as const,
      )
      .filter(([, text]) => text !== "")
  const path = typed("path").reduce(
    (done, [name, text]) => done.replace(`{${name}}`, () => encodeURIComponent(text)),
    operation.path,
  )
  const query = new URLSearchParams(typed("query").map(([name, text]) => [name, text])).toString()
  const hasBody = draft.contentType !== ""
  return {
    method: operation.method,
    path: query === "" ? path : `${path}?${query}`,
    headers: [
      ...(hasBody ? [["Content-Type", draft.contentType] as const] : []),
      ...typed("header"),
    ],
    body: hasBody ? { text: draft.body } : undefined,
    needsToken: operation.security.length > 0,
  }
}
