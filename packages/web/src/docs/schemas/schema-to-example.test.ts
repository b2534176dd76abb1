import { describe, expect, test } from "bun:test"
import Ajv from "ajv/dist/2020.js"
import addFormats from "ajv-formats"
import { realApi } from "../../../test/support/real-api.ts"
import { operationsOf } from "../operations/api.ts"
import type { Schema } from "./schema.ts"
import { schemaToExample } from "./schema-to-example.ts"

const ajv = new Ajv({ strict: false, allErrors: true })
addFormats.default(ajv)
ajv.addSchema({ $id: "http://hamlet.example/", components: { schemas: realApi.schemas } })

function findFaults(schema: Schema, value: unknown) {
  // The references are relative to the document, so the schema is compiled as if it stood in it.
  const validate = ajv.compile(
    JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"http://hamlet.example/#/')),
  )
  return validate(value) ? [] : validate.errors
}

describe("schemaToExample", () => {
  test.each(operationsOf(realApi).map((operation) => [operation.id, operation] as const))(
    "matches every schema of %s",
    (_, operation) => {
      const { schemas } = realApi
      for (const { name, schema } of operation.parameters)
        expect(findFaults(schema, schemaToExample(schemas, schema, { name }))).toEqual([])
      const contents = [
        ...(operation.body?.contents ?? []),
        ...operation.responses.flatMap((response) => response.contents),
      ]
      for (const { schema } of contents) {
        expect(findFaults(schema, schemaToExample(schemas, schema))).toEqual([])
        expect(
          findFaults(schema, schemaToExample(schemas, schema, { isRequiredOnly: true })),
        ).toEqual([])
      }
    },
  )

  test("prefers the examples, const, default and enum of the schema", () => {
    expect(schemaToExample({}, { type: "string", examples: ["e"], default: "d" })).toBe("e")
    expect(schemaToExample({}, { const: "c" })).toBe("c")
    expect(schemaToExample({}, { type: "integer", default: 20 })).toBe(20)
    expect(schemaToExample({}, { enum: ["a", "b"] })).toBe("a")
  })

  test("leaves out optional fields with isRequiredOnly", () => {
    const schema = {
      type: "object",
      properties: { code: { type: "string" }, name: { type: "string" } },
      required: ["code"],
    }
    expect(Object.keys(schemaToExample({}, schema, { isRequiredOnly: true }) ?? {})).toEqual([
      "code",
    ])
  })

  test("ends on a schema that contains itself", () => {
    const tree: Schema = {
      type: "object",
      properties: { next: { $ref: "#/components/schemas/Tree" } },
    }
    expect(JSON.stringify(schemaToExample({ Tree: tree }, tree)).length).toBeLessThan(200)
  })
})
