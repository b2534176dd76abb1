import { type RouteDefinition, routeNames, routes } from "@hamlet/contract"
import { toOpenApi } from "@hamlet/contract/openapi"
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import addFormats from "ajv-formats"
import { isWebAppPath } from "../../src/http/pages/web-app.ts"

type Json = Record<string, unknown>

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly json: unknown
}

interface Operation {
  readonly operationId: string
  readonly responses: Record<string, { content?: Record<string, { schema: Json }> }>
}

const document = toOpenApi({ baseUrl: "http://hamlet.test", version: "test" }) as {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Json> }
}

// Each schema of the document is compiled once, and not again wherever another one refers to it.
const ajv = new Ajv2020({
  strict: false,
  allErrors: true,
  inlineRefs: false,
  validateSchema: false,
})
addFormats.default(ajv)
for (const [name, schema] of Object.entries(document.components.schemas))
  ajv.addSchema(JSON.parse(toSchemaText(schema)) as Json, `schema:${name}`)

const patterns = Object.entries(document.paths).map(([path, operations]) => ({
  pattern: new RegExp(`^${toPattern(path)}${ignoresSlash(path) ? "/?" : ""}$`),
  operations,
}))

/** Outside of the API and of modules, a path is exact. */
function ignoresSlash(path: string): boolean {
  return /^\/v[0-9]*\//.test(path)
}

/** A document cannot say that a parameter holds slashes; the route table does. */
function toPattern(path: string): string {
  const isRest = routeNames.some(
    (name) => routes[name].path === path && (routes[name] as RouteDefinition).isRestPath,
  )
  return path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, isRest ? "[^]+" : "[^/]+")
}

/** By the text of the schema: most operations have the same errors. */
const validatorsByText = new Map<string, ValidateFunction>()
/** Every response asks for one, and making the text takes longer than the check. */
const validators = new WeakMap<Json, ValidateFunction>()

/** Refers to the schemas of the document by the names that the validator knows. */
function toSchemaText(schema: Json): string {
  return JSON.stringify(schema).replaceAll('"#/components/schemas/', '"schema:')
}

/**
 * Throws unless the OpenAPI document describes the response: its status, its content type and its
 * shape.
 */
export function assertMatchesOpenApi(method: string, url: string, response: Answer): void {
  const path = url.split("?")[0] ?? ""
  if (!response.headers.get("x-request-id")) throw new Error(`${method} ${url}: no x-request-id`)
  const operation = findOperation(method, path)
  if (!operation) {
    assertError(method, url, response)
    return
  }
  const promised = operation.responses[response.status]
  if (!promised)
    throw new Error(
      `${method} ${url}: status ${response.status} is not in the document: ${response.text.slice(0, 500)}`,
    )
  if (method === "HEAD" || response.status === 304) return
  const type = response.headers.get("content-type")?.split(";")[0] ?? ""
  if (!promised.content) {
    if (response.text !== "")
      throw new Error(`${method} ${url}: a body where the document has none`)
    return
  }
  const content = promised.content[type] ?? promised.content["*/*"]
  if (!content) throw new Error(`${method} ${url}: type ${type} is not in the document`)
  if (promised.content["application/json"] && type === "application/json")
    check(`${operation.operationId} ${response.status}`, content.schema, method, url, response)
}

const errorSchema: Json = { $ref: "#/components/schemas/Error" }

/** A request without an operation gets an error of the general shape, except for the web app. */
function assertError(method: string, url: string, response: Answer): void {
  if (method === "OPTIONS" || method === "HEAD") return
  const isOk = response.status === 200 || response.status === 302
  if (method === "GET" && isOk && isWebAppPath(url.split("?")[0] ?? "")) return
  // A browser gets a page outside of the API.
  const isPage = response.headers.get("content-type")?.startsWith("text/html") ?? false
  if (method === "GET" && response.status === 404 && isPage && !/^\/v[0-9]/.test(url)) return
  check("error", errorSchema, method, url, response)
}

function findOperation(method: string, path: string): Operation | undefined {
  const verb = method === "HEAD" ? "get" : method.toLowerCase()
  // As OpenAPI has it, a path without parameters goes before those that would match it too.
  const literal = document.paths[ignoresSlash(path) ? path.replace(/\/$/, "") : path]
  if (literal) return literal[verb]
  return patterns.find(({ pattern, operations }) => pattern.test(path) && operations[verb])
    ?.operations[verb]
}

function check(name: string, schema: Json, method: string, url: string, response: Answer): void {
  const validator = findValidator(schema)
  if (validator(response.json)) return
  throw new Error(
    `${method} ${url}: the answer does not fit ${name}: ${ajv.errorsText(validator.errors)}\n${response.text.slice(0, 1000)}`,
  )
}

function findValidator(schema: Json): ValidateFunction {
  const known = validators.get(schema)
  if (known) return known
  const text = toSchemaText(schema)
  const validator = validatorsByText.get(text) ?? ajv.compile(JSON.parse(text) as Json)
  validatorsByText.set(text, validator)
  validators.set(schema, validator)
  return validator
}

/** Parses a JSON response; undefined for anything else, also for a blob with a wrong type. */
export function parseJson({ headers, text }: Pick<Answer, "headers" | "text">): unknown {
  try {
    return headers.get("content-type")?.startsWith("application/json")
      ? JSON.parse(text)
      : undefined
  } catch {
    return undefined
  }
}
