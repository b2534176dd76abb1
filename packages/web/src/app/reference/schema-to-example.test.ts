import { describe, expect, test } from "bun:test"
import { realApi, realOperations } from "../../../test/support/real-api.ts"
import type { Schema } from "./schema.ts"
import { schemaToExample } from "./schema-to-example.ts"

describe("schemaToExample", () => {
  test("has the required fields of every body", () => {
    const bodies = realOperations.flatMap(({ requestBody }) => {
      const schema = requestBody?.content["application/json"]?.schema
      return schema?.properties ? [schema] : []
    })
    expect(bodies.length).toBeGreaterThan(20)
    for (const schema of bodies)
      expect(Object.keys(schemaToExample(realApi.components.schemas, schema) ?? {})).toEqual(
        (schema.required ?? []) as string[],
      )
  })

  test.each<[Schema, unknown]>([
    [{ type: "string", examples: ["e"], default: "d" }, "e"],
    [{ const: "c" }, "c"],
    [{ type: "integer", default: 20 }, 20],
    [{ type: "integer", minimum: 1 }, 1],
    [{ enum: ["a", "b"] }, "a"],
    [{ anyOf: [{ type: "boolean" }, { type: "string" }] }, false],
    [{ type: ["string", "null"] }, null],
    [{ type: "array", items: { type: "string" } }, [""]],
    [{ type: "array", prefixItems: [{ type: "string" }, { type: "integer" }] }, ["", 0]],
  ])("%j", (schema, value) => {
    expect(schemaToExample({}, schema)).toEqual(value as never)
  })

  test("ends on a schema that contains itself", () => {
    const tree = { type: "object", properties: { next: { $ref: "#/x/Tree" } }, required: ["next"] }
    expect(JSON.stringify(schemaToExample({ Tree: tree }, tree)).length).toBeLessThan(200)
  })
})
