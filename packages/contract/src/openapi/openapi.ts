import { z } from "zod"
import { type ErrorCode, errorCodes, statusTexts } from "../errors.ts"
import { limits } from "../limits.ts"
import { hasIdempotencyKey, type RouteDefinition } from "../route.ts"
import { errorsOf, type RouteName, routeNames, routes } from "../routes.ts"
import { errorBody } from "../schemas/records.ts"
import { describeProperties, descriptions, findDescribed } from "./descriptions.ts"
import { fixSchema } from "./fix-schema.ts"

type Json = Record<string, unknown>

/** The URL and version of the described server. */
export interface OpenApiInfo {
  readonly baseUrl: string
  readonly version: string
}

/** Generates the OpenAPI 3.1 document from the route table. */
export function toOpenApi(info: OpenApiInfo): Json {
  const schemas: Json = {}
  // Converted once: each operation has it several times.
  const error = toContent(errorBody, schemas, undefined)
  const paths: Record<string, Json> = {}
  for (const name of routeNames) {
    const route: RouteDefinition = routes[name]
    const path = paths[route.path] ?? {}
    path[route.method] = toOperation(name, route, schemas, error)
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
          description:
            "A token from `POST /v1/me/tokens`, or the one that the server printed at its first start.",
        },
      },
    },
  }
}

function toOperation(name: RouteName, route: RouteDefinition, schemas: Json, error: Json): Json {
  return {
    operationId: name,
    tags: [route.tag],
    summary: route.summary,
    ...(route.scope ? { description: describeScope(route) } : {}),
    ...(route.auth === "none"
      ? { security: [] }
      : { security: route.auth === "optional" ? [{}, { token: [] }] : [{ token: [] }] }),
    parameters: [
      ...toParameters("path", name, route.params, schemas),
      ...toParameters("query", name, route.query, schemas),
      ...toHeaderParameters(route),
    ],
    ...(route.body || route.isBytesBody
      ? { requestBody: toRequestBody(name, route, schemas) }
      : {}),
    responses: { ...toResponses(name, route, schemas), ...toErrorResponses(route, error) },
  }
}

function describeScope({ scope, scopeToWrite, auth }: RouteDefinition): string {
  const toWrite = scopeToWrite === undefined ? "" : ` Changes also require \`${scopeToWrite}\`.`
  return `Scope of the token: \`${scope}\`${auth === "optional" ? ", if one is sent" : ""}.${toWrite}`
}

function toParameters(
  place: "path" | "query",
  operation: RouteName,
  object: z.ZodObject | undefined,
  schemas: Json,
): Json[] {
  if (!object) return []
  const schema = toSchema(object, "input", schemas) as {
    properties: Record<string, Json>
    required?: string[]
  }
  return Object.entries(schema.properties).map(([name, { description, ...property }]) => ({
    name,
    in: place,
    description: description ?? descriptions[findDescribed([operation], name) ?? ""],
    required: place === "path" || (schema.required ?? []).includes(name),
    schema: property,
    // One or several values, comma-separated or repeated: both are accepted.
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
            'The version that the caller has seen, such as `"3"`; 412 if the val has a newer one',
            { type: "string" },
          ),
        ]
      : []),
    ...(route.hasEtag
      ? [
          header("If-None-Match", "An ETag; 304 if the response would be the same", {
            type: "string",
          }),
        ]
      : []),
    ...(route.hasRange
      ? [
          header("Range", "One range of bytes, such as `bytes=0-99`; 206 with that range", {
            type: "string",
          }),
        ]
      : []),
    ...(route.hasAsync
      ? [
          header(
            "Prefer",
            "`respond-async`: respond with 202 at once instead of waiting for the result",
            {
              type: "string",
            },
          ),
        ]
      : []),
    ...(route.hasEvents
      ? [
          header("Accept", "`text/event-stream`: stream the response as events", {
            type: "string",
          }),
          header(
            "Last-Event-ID",
            "The id of the last event received; the stream resumes after it",
            {
              type: "string",
            },
          ),
        ]
      : []),
    ...(route.isSignIn
      ? [
          {
            ...header(
              "X-Hamlet-Session",
              "The page key of the browser's session, or `1`: proves that a page of this server sends the request",
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
            "The same key with the same body gives the same response for 24 hours",
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

/** Bytes of any type have no schema. */
const bytes = { schema: { type: "string", format: "binary" } }

function toRequestBody(name: RouteName, route: RouteDefinition, schemas: Json): Json {
  if (route.isBytesBody) return { required: false, content: { "application/octet-stream": bytes } }
  const body = route.body as z.ZodType
  return {
    required: true,
    content: {
      "application/json": { schema: toSchema(body, "input", schemas, name) },
      ...(route.isCodeBody
        ? { "text/plain": { schema: { type: "string", description: "The code itself" } } }
        : {}),
    },
  }
}

function toResponses(name: RouteName, route: RouteDefinition, schemas: Json): Json {
  const responses: Json = {}
  for (const [status, response] of Object.entries(route.responses)) {
    const headers = {
      "x-request-id": { schema: { type: "string" } },
      ...(route.hasEtag ? { etag: { schema: { type: "string" } } } : {}),
      ...(status === "206" ? { "content-range": { schema: { type: "string" } } } : {}),
      ...(status === "202" && route.hasAsync
        ? { location: { schema: { type: "string", format: "uri" } } }
        : {}),
    }
    responses[status] = {
      description: status === "204" ? "Done" : route.summary,
      headers,
      ...toContent(response, schemas, name, route.hasEvents),
    }
  }
  if (route.hasEtag) responses["304"] = { description: "Not modified" }
  return responses
}

function toContent(
  response: RouteDefinition["responses"][number],
  schemas: Json,
  operation: RouteName | undefined,
  hasEvents = false,
): Json {
  if (response === null) return {}
  if (response === "bytes") return { content: { "*/*": bytes } }
  const events = hasEvents ? { "text/event-stream": { schema: { type: "string" } } } : {}
  if (response instanceof z.ZodType)
    return {
      content: {
        "application/json": { schema: toSchema(response, "output", schemas, operation) },
        ...events,
      },
    }
  return {
    content: Object.fromEntries(response.map((type) => [type, { schema: { type: "string" } }])),
  }
}

function toErrorResponses(route: RouteDefinition, error: Json): Json {
  const byStatus = Map.groupBy(errorsOf(route), (code) => errorCodes[code].status)
  const entries = [...byStatus].map(([status, codes]) => [
    status,
    { description: describeErrors(status, codes), ...error },
  ])
  return Object.fromEntries(entries)
}

function describeErrors(status: number, codes: readonly ErrorCode[]): string {
  return `${statusTexts[status]}: ${codes.map((code) => `\`${code}\``).join(", ")}`
}

/**
 * The JSON Schema of a zod schema; schemas with an id move to the components. The properties of a
 * schema of an operation are described here, parameters by their own row.
 */
function toSchema(
  schema: z.ZodType,
  io: "input" | "output",
  components: Json,
  operation?: RouteName,
): Json {
  const { $schema, $defs, ...json } = z.toJSONSchema(schema, {
    io,
    target: "draft-2020-12",
    unrepresentable: "any",
    override: fixSchema,
  }) as Json
  for (const [name, definition] of Object.entries(($defs ?? {}) as Record<string, Json>)) {
    const { $schema: _dialect, id: _id, ...rest } = definition
    components[name] ??= describeProperties(pointToComponents(rest), [name])
  }
  const pointed = pointToComponents(json) as Json
  return operation === undefined ? pointed : (describeProperties(pointed, [operation]) as Json)
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
