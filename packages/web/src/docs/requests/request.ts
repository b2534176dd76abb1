import type { Operation, Parameter } from "../operations/api.ts"
import { fieldKind, toItems, valueToText } from "../schemas/field-value.ts"
import type { Schemas } from "../schemas/schema.ts"
import { schemaToExample } from "../schemas/schema-to-example.ts"
import { type BodyDraft, type BodyText, bodyModes, toBodyText } from "./body-draft.ts"

/** The content of the form of an operation. */
export interface RequestDraft {
  /** By `parameterKey`. */
  readonly parameters: Readonly<Record<string, string>>
  readonly body: BodyDraft
}

/** A parameter with the value it is sent with. */
export interface SentParameter {
  readonly parameter: Parameter
  readonly text: string
}

/** A request as the form describes it, without the token: snippets must not contain it. */
export interface ApiRequest {
  readonly operation: Operation
  readonly parameters: readonly SentParameter[]
  /** Path and query, encoded. */
  readonly path: string
  readonly body?: BodyText
}

/** The form of an operation before anything is typed. */
export function emptyDraft(schemas: Schemas, operation: Operation): RequestDraft {
  const mode = (operation.body && bodyModes(schemas, operation.body)[0]) ?? "json"
  return { parameters: {}, body: { mode, fields: {}, json: "", text: "" } }
}

/** A parameter's key in the draft: the same name may be in the path and in the query. */
export function parameterKey(parameter: Parameter): string {
  return `${parameter.location} ${parameter.name}`
}

/** The request that a draft describes. When `isFilled`, examples replace empty required fields. */
export function toRequest(
  schemas: Schemas,
  operation: Operation,
  draft: RequestDraft,
  isFilled: boolean,
): ApiRequest {
  const parameters = operation.parameters.flatMap((parameter): SentParameter[] => {
    const text = draft.parameters[parameterKey(parameter)] ?? ""
    if (text !== "") return [{ parameter, text }]
    if (!isFilled || !parameter.isRequired) return []
    return [
      {
        parameter,
        text: valueToText(schemaToExample(schemas, parameter.schema, { name: parameter.name })),
      },
    ]
  })
  const body = operation.body && toBodyText(schemas, operation.body, draft.body, isFilled)
  return {
    operation,
    parameters,
    path: toPath(schemas, operation.path, parameters),
    ...(body ? { body } : {}),
  }
}

/** Why the request cannot be sent: without its path parameters it would match another route. */
export function findObstacle(request: ApiRequest): string | undefined {
  for (const parameter of request.operation.parameters.filter((one) => one.location === "path")) {
    const text = request.parameters.find((sent) => sent.parameter === parameter)?.text ?? ""
    if (text === "") return `Fill in ${parameter.name}: it is part of the path`
    if (/^\.\.?$/.test(text))
      return `Change ${parameter.name}: browsers remove "${text}" from a path`
  }
  return undefined
}

function toPath(schemas: Schemas, template: string, parameters: readonly SentParameter[]): string {
  const inPath = parameters.filter((sent) => sent.parameter.location === "path")
  const path = inPath.reduce(
    (done, { parameter, text }) =>
      done.replaceAll(`{${parameter.name}}`, () => encodeURIComponent(text)),
    template,
  )
  const query = parameters
    .filter((sent) => sent.parameter.location === "query")
    .map(({ parameter, text }) => {
      const isList = ["choices", "list"].includes(fieldKind(schemas, parameter.schema))
      const value = isList
        ? toItems(text).map(encodeURIComponent).join(",")
        : encodeURIComponent(text)
      return `${encodeURIComponent(parameter.name)}=${value}`
    })
  return query.length === 0 ? path : `${path}?${query.join("&")}`
}
