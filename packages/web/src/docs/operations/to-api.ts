import {
  asList,
  asObject,
  asText,
  isObject,
  type Json,
  type JsonObject,
} from "../../ui/code/json.ts"
import type { Schema, Schemas } from "../schemas/schema.ts"
import type {
  Api,
  Content,
  Operation,
  OperationGroup,
  Parameter,
  RequestBody,
  ResponseDefinition,
} from "./api.ts"
import { quotedNames } from "./inline-code.tsx"

const spellings: Readonly<Record<string, string>> = { api: "API", id: "ID", url: "URL" }
const methods = ["get", "post", "put", "patch", "delete"] as const
const locations = ["path", "query", "header"] as const

/** Reads an OpenAPI document; undefined when it is not one. Missing parts are shown as absent. */
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
    // Any other path could lead to another host, and the token would be sent there.
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
  // OpenAPI has no field for the scope of a bearer token: only this sentence names it.
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
    responses: Object.entries(asObject(source.responses)).map(([status, response]) =>
      toResponse(status, asObject(response)),
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
  const location = locations.find((one) => one === where)
  if (!location || typeof name !== "string") return []
  return [
    {
      name,
      location,
      isRequired: location === "path" || required === true,
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

function toResponse(status: string, source: JsonObject): ResponseDefinition {
  const description = asText(source.description)
  return {
    status,
    description,
    codes: status >= "400" ? quotedNames(description) : [],
    headers: Object.keys(asObject(source.headers)),
    contents: toContents(source.content),
  }
}

/** An operation id as words: `listMyRuns` is "List my runs". */
export function toTitle(id: string): string {
  const words = id
    .replaceAll("_", " ")
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .split(" ")
    .filter(Boolean)
  const spelled = words.map((word) => spellings[word.toLowerCase()] ?? word.toLowerCase()).join(" ")
  return spelled.charAt(0).toUpperCase() + spelled.slice(1)
}
