import { z } from "zod"
import { type ErrorCode, errorCodes, statusTexts } from "../errors.ts"
import { limits } from "../limits.ts"
import { hasIdempotencyKey, type RouteDefinition } from "../route.ts"
import { errorsOf, type RouteName, routeNames, routes } from "../routes.ts"
import { errorBody } from "../schemas/records.ts"
import { fixSchema } from "./fix-schema.ts"

type Json = Record<string, unknown>

/** Where the described server is, and which version it is. */
export interface OpenApiInfo {
  readonly baseUrl: string
  readonly version: string
}

/** The OpenAPI 3.1 document, made from the route table. */
export function toOpenApi(info: OpenApiInfo): Json {
  const schemas: Json = {}
  const paths: Record<string, Json> = {}
  for (const name of routeNames) {
    const route: RouteDefinition = routes[name]
    const path = paths[route.path] ?? {}
    path[route.method] = toOperation(name, route, schemas)
    paths[route.path] = path
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Hamlet",
      version: info.version,
      summary: "A val hosting service",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: info.baseUrl }],
    tags: [...new Set(routeNames.map((name) => routes[name].tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas,
      securitySchemes: {
        token: {
          type: "http",
          scheme: "bearer",
          description: "A token from `POST /v1/me/tokens`, or the one printed at the first start.",
        },
      },
    },
  }
}

function toOperation(name: RouteName, route: RouteDefinition, schemas: Json): Json {
  return {
    operationId: name,
    tags: [route.tag],
    summary: route.summary,
    ...(route.scope ? { description: describeScope(route) } : {}),
    ...(route.auth === "none"
      ? { security: [] }
      : { security: route.auth === "optional" ? [{}, { token: [] }] : [{ token: [] }] }),
    parameters: [
      ...toParameters("path", route.params, schemas),
      ...toParameters("query", route.query, schemas),
      ...toHeaderParameters(route),
    ],
    ...(route.body || route.isBytesBody ? { requestBody: toRequestBody(route, schemas) } : {}),
    responses: { ...toAnswers(route, schemas), ...toErrorAnswers(route, schemas) },
  }
}

function describeScope({ scope, scopeToWrite, auth }: RouteDefinition): string {
  const toWrite =
    scopeToWrite === undefined ? "" : ` To change something, it needs \`${scopeToWrite}\` as well.`
  return `Scope of the token: \`${scope}\`${auth === "optional" ? ", if one is sent" : ""}.${toWrite}`
}

function toParameters(
  place: "path" | "query",
  object: z.ZodObject | undefined,
  schemas: Json,
): Json[] {
  if (!object) return []
  const schema = toSchema(object, "input", schemas) as {
    properties: Record<string, Json>
    required?: string[]
  }
  return Object.entries(schema.properties).map(([name, property]) => ({
    name,
    in: place,
    required: place === "path" || (schema.required ?? []).includes(name),
    schema: property,
    // One or several, comma-joined or repeated: both are read.
    ...(property.type === "array" ? { style: "form", explode: false } : {}),
  }))
}

function toHeaderParameters(route: RouteDefinition): Json[] {
  const header = (name: string, description: string, schema: Json) => ({
    name,
    in: "header",
    required: false,
    description,
    schema,
  })
  return [
    ...(route.hasIfMatch
      ? [
          header(
            "If-Match",
            'The version the caller has seen, as `"3"`; 412 when the val has moved on',
            { type: "string" },
          ),
        ]
      : []),
    ...(route.hasEtag
      ? [
          header("If-None-Match", "An ETag; 304 when the answer would be the same", {
            type: "string",
          }),
        ]
      : []),
    ...(route.hasRange
      ? [
          header("Range", "One range of bytes, as `bytes=0-99`: 206 with that part alone", {
            type: "string",
          }),
        ]
      : []),
    ...(route.hasAsync
      ? [
          header("Prefer", "`respond-async`: 202 at once instead of waiting for the end", {
            type: "string",
          }),
        ]
      : []),
    ...(route.hasEvents
      ? [
          header("Accept", "`text/event-stream`: the answer is followed as it grows", {
            type: "string",
          }),
          header("Last-Event-ID", "The id of the last event that was seen: those after it follow", {
            type: "string",
          }),
        ]
      : []),
    ...(route.isSignIn
      ? [
          {
            ...header(
              "X-Hamlet-Session",
              "The page key of the session that the browser has, or `1`: it shows that a page of this server sends it",
              {
                type: "string",
              },
            ),
            required: true,
          },
        ]
      : []),
    ...(hasIdempotencyKey(route)
      ? [
          header(
            "Idempotency-Key",
            "The same key with the same body gives the same answer for 24 hours",
            {
              type: "string",
              minLength: 1,
              maxLength: limits.idempotencyKeyCharsMax,
            },
          ),
        ]
      : []),
  ]
}

/** Bytes of any type: no schema says anything about them. */
const bytes = { schema: { type: "string", format: "binary" } }

function toRequestBody(route: RouteDefinition, schemas: Json): Json {
  if (route.isBytesBody) return { required: false, content: { "application/octet-stream": bytes } }
  const body = route.body as z.ZodType
  return {
    required: true,
    content: {
      "application/json": { schema: toSchema(body, "input", schemas) },
      ...(route.isCodeBody
        ? { "text/plain": { schema: { type: "string", description: "The code itself" } } }
        : {}),
    },
  }
}

function toAnswers(route: RouteDefinition, schemas: Json): Json {
  const answers: Json = {}
  for (const [status, answer] of Object.entries(route.responses)) {
    const headers = {
      "x-request-id": { schema: { type: "string" } },
      ...(route.hasEtag ? { etag: { schema: { type: "string" } } } : {}),
      ...(status === "206" ? { "content-range": { schema: { type: "string" } } } : {}),
      ...(status === "202" ? { location: { schema: { type: "string", format: "uri" } } } : {}),
    }
    answers[status] = {
      description: status === "204" ? "Done" : route.summary,
      headers,
      ...toContent(answer, schemas, route.hasEvents),
    }
  }
  if (route.hasEtag) answers["304"] = { description: "Not modified" }
  return answers
}

function toContent(
  answer: RouteDefinition["responses"][number],
  schemas: Json,
  hasEvents = false,
): Json {
  if (answer === null) return {}
  if (answer === "bytes") return { content: { "*/*": bytes } }
  const events = hasEvents ? { "text/event-stream": { schema: { type: "string" } } } : {}
  if (answer instanceof z.ZodType)
    return {
      content: { "application/json": { schema: toSchema(answer, "output", schemas) }, ...events },
    }
  return {
    content: Object.fromEntries(answer.map((type) => [type, { schema: { type: "string" } }])),
  }
}

function toErrorAnswers(route: RouteDefinition, schemas: Json): Json {
  const byStatus = Map.groupBy(errorsOf(route), (code) => errorCodes[code].status)
  const entries = [...byStatus].map(([status, codes]) => [
    status,
    { description: describeErrors(status, codes), ...toContent(errorBody, schemas) },
  ])
  return Object.fromEntries(entries)
}

function describeErrors(status: number, codes: readonly ErrorCode[]): string {
  return `${statusTexts[status]}: ${codes.map((code) => `\`${code}\``).join(", ")}`
}

/** The JSON Schema of a zod schema; what has an id of its own moves to the components. */
function toSchema(schema: z.ZodType, io: "input" | "output", components: Json): Json {
  const { $schema, $defs, ...json } = z.toJSONSchema(schema, {
    io,
    target: "draft-2020-12",
    unrepresentable: "any",
    override: fixSchema,
  }) as Json
  for (const [name, definition] of Object.entries(($defs ?? {}) as Record<string, Json>)) {
    const { $schema: _dialect, id: _id, ...rest } = definition
    components[name] = pointToComponents(rest)
  }
  return pointToComponents(json) as Json
}

function pointToComponents(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(pointToComponents)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === "$ref" && typeof inner === "string"
        ? inner.replace("#/$defs/", "#/components/schemas/")
        : pointToComponents(inner),
    ]),
  )
}
