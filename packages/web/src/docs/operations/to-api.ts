import { asList, asObject, asText, isObject, type Json, type JsonObject } from "../schemas/json.ts"
import type { Schema, Schemas } from "../schemas/schema.ts"
import type {
  AnswerDefinition,
  Api,
  Content,
  Operation,
  OperationGroup,
  Parameter,
  RequestBody,
} from "./api.ts"
import { quotedNames } from "./inline-code.ts"
import { toTitle } from "./to-title.ts"

const methods = ["get", "post", "put", "patch", "delete"] as const
const places = ["path", "query", "header"] as const

/** Reads an OpenAPI document; undefined when it is none. What it lacks is shown as absent. */
export function toApi(document: unknown): Api | undefined {
  if (
    !isObject(document) ||
    !isObject(document.paths) ||
    !asText(document.openapi).startsWith("3.")
  )
    return undefined
  const info = asObject(document.info)
  const components = asObject(document.components)
  return {
    title: asText(info.title) || "API",
    version: asText(info.version),
    summary: asText(info.summary),
    tokenHelp: asText(asObject(asObject(components.securitySchemes).token).description),
    groups: toGroups(document),
    schemas: asObject(components.schemas) as Schemas,
  }
}

function toGroups(document: JsonObject): readonly OperationGroup[] {
  const operations = Object.entries(asObject(document.paths)).flatMap(([path, item]) => {
    // Anything else would not be an address on this server, and a token would be sent there.
    return path.startsWith("/") ? toOperations(path, asObject(item)) : []
  })
  const named = asList(document.tags).map((tag) => asText(asObject(tag).name))
  const names = [...new Set([...named, ...operations.map((operation) => operation.tag)])]
  return names
    .map((name) => ({ name, operations: operations.filter((operation) => operation.tag === name) }))
    .filter((group) => group.operations.length > 0)
}

function toOperations(path: string, item: JsonObject): readonly Operation[] {
  return methods.flatMap((method) =>
    isObject(item[method]) ? [toOperation(method, path, item[method])] : [],
  )
}

function toOperation(method: string, path: string, source: JsonObject): Operation {
  const id = asText(source.operationId) || `${method}${path.replaceAll(/[^a-zA-Z0-9]+/g, "_")}`
  const description = asText(source.description)
  // The document has no field for a scope of a bearer token; the sentence that names it is the only
  // place.
  const scope = /^Scope of the token: `([^`]+)`/.exec(description)?.[1]
  return {
    id,
    title: toTitle(id),
    method: method.toUpperCase(),
    path,
    tag: asText(asList(source.tags)[0]) || "Other",
    summary: asText(source.summary),
    description: scope === undefined ? description : description.replace(/^[^.]*\.\s*/, ""),
    auth: toAuth(source.security),
    ...(scope === undefined ? {} : { scope }),
    parameters: asList(source.parameters).flatMap(toParameter),
    ...(isObject(source.requestBody) ? { body: toBody(source.requestBody) } : {}),
    answers: Object.entries(asObject(source.responses)).map(([status, answer]) =>
      toAnswer(status, asObject(answer)),
    ),
  }
}

function toAuth(security: Json | undefined): Operation["auth"] {
  const ways = asList(security).map(asObject)
  if (ways.length === 0) return "none"
  return ways.some((way) => Object.keys(way).length === 0) ? "optional" : "required"
}

function toParameter(source: Json): readonly Parameter[] {
  const { name, in: where, required, description, schema } = asObject(source)
  const place = places.find((one) => one === where)
  if (!place || typeof name !== "string") return []
  return [
    {
      name,
      place,
      isRequired: place === "path" || required === true,
      description: asText(description),
      schema: asObject(schema) as Schema,
    },
  ]
}

function toBody(source: JsonObject): RequestBody {
  return { isRequired: source.required === true, contents: toContents(source.content) }
}

function toContents(content: Json | undefined): readonly Content[] {
  return Object.entries(asObject(content)).map(([contentType, media]) => ({
    contentType,
    schema: asObject(asObject(media).schema) as Schema,
  }))
}

function toAnswer(status: string, source: JsonObject): AnswerDefinition {
  const description = asText(source.description)
  return {
    status,
    description,
    codes: status >= "400" ? quotedNames(description) : [],
    headers: Object.keys(asObject(source.headers)),
    contents: toContents(source.content),
  }
}
