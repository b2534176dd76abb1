import { describe, expect, test } from "bun:test"
import { Validator } from "@seriousme/openapi-schema-validator"
import { errorCodes } from "../errors.ts"
import type { RouteDefinition } from "../route.ts"
import { errorsOf, routeNames, routes } from "../routes.ts"
import { runStatus } from "../schemas/fields.ts"
import { descriptions } from "./descriptions.ts"
import { toOpenApi } from "./openapi.ts"

interface Parameter {
  name: string
  in: string
  required: boolean
  description?: string
  schema: Record<string, unknown>
}

interface Operation {
  operationId: string
  parameters: Parameter[]
  requestBody?: unknown
  responses: Record<string, { content?: Record<string, unknown> }>
}

interface Document {
  openapi: string
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Record<string, unknown>> }
}

const document = toOpenApi({
  baseUrl: "https://hamlet.example",
  version: "1.2.3",
}) as unknown as Document
const text = JSON.stringify(document)

function find(name: string): Operation {
  const found = Object.values(document.paths)
    .flatMap(Object.values)
    .find((operation: Operation) => operation.operationId === name)
  if (!found) throw new Error(`No operation "${name}"`)
  return found as Operation
}

describe("toOpenApi", () => {
  test("makes a valid OpenAPI 3.1 document", async () => {
    const validator = new Validator()
    const result = await validator.validate(JSON.parse(text))
    expect(result.errors ?? []).toEqual([])
    expect(result.valid).toBe(true)
    expect(validator.version).toBe("3.1")
  })

  test("says of every array what it contains, and how long a tuple is", () => {
    const arrays: Record<string, unknown>[] = []
    JSON.parse(text, (_, value) => {
      if (value?.type === "array") arrays.push(value)
      return value
    })
    expect(arrays.length).toBeGreaterThan(50)
    for (const array of arrays) expect(array).toMatchObject({ items: expect.any(Object) })
    const tuples = arrays.filter(({ prefixItems }) => prefixItems !== undefined)
    expect(tuples.length).toBeGreaterThan(3)
    for (const tuple of tuples) expect(tuple).toMatchObject({ minItems: 2, maxItems: 2 })
  })

  test("refers only to components that exist", () => {
    const names = new Set(
      Array.from(text.matchAll(/"\$ref":"([^"]+)"/g), ([, ref]) => ref as string),
    )
    expect(names.size).toBeGreaterThan(10)
    for (const ref of names) {
      const component = document.components.schemas[ref.replace("#/components/schemas/", "")]
      expect(component, ref).toMatchObject({ type: "object", properties: {} })
    }
  })

  test("contains no internal annotations", () => {
    expect(text).not.toContain('"wire"')
    expect(text).not.toContain("$defs")
  })

  for (const name of routeNames) {
    const route: RouteDefinition = routes[name]
    test(`describes ${name} like the route table`, () => {
      const operation = document.paths[route.path]?.[route.method]
      expect(operation?.operationId).toBe(name)
      const inPlace = (place: string) =>
        operation?.parameters
          .filter((parameter) => parameter.in === place)
          .map((parameter) => parameter.name)
      expect(inPlace("path")).toEqual(Object.keys(route.params?.shape ?? {}))
      expect(inPlace("query")).toEqual(Object.keys(route.query?.shape ?? {}))
      expect(operation?.requestBody !== undefined).toBe(
        route.body !== undefined || route.isBytesBody === true,
      )
      const statuses = [
        ...Object.keys(route.responses),
        ...errorsOf(route).map((code) => String(errorCodes[code].status)),
        ...(route.hasEtag ? ["304"] : []),
      ]
      expect(Object.keys(operation?.responses ?? {}).sort()).toEqual([...new Set(statuses)].sort())
    })
  }

  test("shows parameters as a caller writes them, with defaults", () => {
    const schemas = Object.fromEntries(
      find("listMyRuns").parameters.map((parameter) => [parameter.name, parameter.schema]),
    )
    expect(schemas).toEqual({
      limit: { type: "integer", minimum: 1, maximum: 100, default: 20 },
      offset: { type: "integer", minimum: 0, maximum: expect.any(Number), default: 0 },
      cursor: { type: "string", minLength: 1, maxLength: expect.any(Number) },
      since: { type: "string", format: "date-time" },
      until: { type: "string", format: "date-time" },
      error: { type: "boolean" },
      source: {
        type: "array",
        items: { type: "string", enum: ["ui", "api", "http", "interval", "email"] },
      },
      status: { type: "array", items: { type: "string", enum: runStatus.options } },
      text: { type: "string", minLength: 1, maxLength: 200 },
      val_id: { type: "string", format: "uuid" },
      file_id: { type: "string", format: "uuid" },
      branch_id: { type: "string", format: "uuid" },
    })
    const relationship = find("listMyComments").parameters.find(
      (parameter) => parameter.name === "relationship",
    )
    expect(relationship).toMatchObject({
      required: false,
      schema: { enum: ["any", "given", "received"], default: "any" },
    })
    expect(
      find("searchVals").parameters.find((parameter) => parameter.name === "query")?.required,
    ).toBe(true)
  })

  test("describes every property and every parameter", () => {
    const missing: string[] = []
    const visit = (value: unknown, place: string) => {
      if (typeof value !== "object" || value === null) return
      for (const [key, inner] of Object.entries(value)) {
        if (key !== "properties" || Array.isArray(value)) visit(inner, `${place}/${key}`)
        else
          for (const [name, property] of Object.entries(inner as Record<string, object>)) {
            if (!("description" in property)) missing.push(`${place}/${name}`)
            visit(property, `${place}/${name}`)
          }
      }
    }
    visit(document.components.schemas, "")
    visit(document.paths, "")
    for (const operation of Object.values(document.paths).flatMap(Object.values) as Operation[])
      for (const parameter of operation.parameters)
        if (!parameter.description) missing.push(`${operation.operationId} ${parameter.name}`)
    expect(missing).toEqual([])
  })

  test("uses every row of the descriptions", () => {
    const unused = Object.entries(descriptions).filter(
      ([, description]) => !text.includes(`"description":${JSON.stringify(description)}`),
    )
    expect(unused.map(([key]) => key)).toEqual([])
  })

  test("shows the headers that a route honours", () => {
    const headers = (name: string) =>
      find(name)
        .parameters.filter((parameter) => parameter.in === "header")
        .map((parameter) => parameter.name)
    expect(headers("createVersion")).toEqual(["If-Match", "Idempotency-Key"])
    expect(headers("getVal")).toEqual(["If-None-Match"])
    expect(headers("getMe")).toEqual([])
    expect(headers("getBlob")).toEqual(["If-None-Match", "Range"])
    expect(headers("putBlob")).toEqual([])
  })

  test("shows responses that are not JSON with their content type, and no content for 204", () => {
    expect(Object.keys(find("getModule").responses[200]?.content ?? {})).toEqual([
      "text/tsx",
      "text/typescript",
      "text/jsx",
      "text/javascript",
      "text/plain",
    ])
    expect(find("deleteVal").responses[204]?.content).toBeUndefined()
    expect(Object.keys(find("getBlob").responses[206]?.content ?? {})).toEqual(["*/*"])
    expect(Object.keys(find("putBlob").responses[201]?.content ?? {})).toEqual(["application/json"])
  })
})
