import { describe, expect, test } from "bun:test"
import Ajv, { type ValidateFunction } from "ajv/dist/2020.js"
import addFormats from "ajv-formats"
import { realApi } from "../../../test/support/real-api.ts"
import { operationsOf } from "../operations/api.ts"
import type { Schema } from "./schema.ts"
import { schemaToExample } from "./schema-to-example.ts"

// Each schema of the document is compiled once, and not again wherever another one refers to it.
const ajv = new Ajv({ strict: false, allErrors: true, inlineRefs: false })
addFormats.default(ajv)
for (const [name, schema] of Object.entries(realApi.schemas))
  ajv.addSchema(JSON.parse(toSchemaText(schema)), `schema:${name}`)

/** By the text of the schema: most operations have the same errors. */
const validators = new Map<string, ValidateFunction>()

/** Refers to the schemas of the document by the names that the validator knows. */
function toSchemaText(schema: Schema): string {
  return JSON.stringify(schema).replaceAll('"#/components/schemas/', '"schema:')
}

function findFaults(schema: Schema, value: unknown) {
  const text = toSchemaText(schema)
  const validate = validators.get(text) ?? ajv.compile(JSON.parse(text))
  validators.set(text, validate)
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
