import { describe, expect, test } from "bun:test"
import { realApi, realOperation } from "../../../test/support/real-api.ts"
import {
  allowedValues,
  describeConstraints,
  describeType,
  expandSchema,
} from "./describe-schema.ts"
import type { Schema } from "./schema.ts"

const schemas = {
  Val: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
} as const
const val: Schema = { $ref: "#/components/schemas/Val" }

describe("describeType", () => {
  test.each<[Schema, string]>([
    [{ type: "string", format: "uuid" }, "string · uuid"],
    [{ type: "array", items: val }, "array of Val"],
    [{ anyOf: [val, { type: "null" }] }, "Val or null"],
    [{ anyOf: [{ type: "string" }, { type: "integer" }] }, "string or integer"],
    [{ const: "user" }, '"user"'],
    [{ properties: { data: { type: "array", items: val }, links: {} } }, "page of Val"],
    [{}, "anything"],
  ])("%j", (schema, text) => {
    expect(describeType(schemas, schema)).toBe(text)
  })
})

describe("describeConstraints", () => {
  test.each<[Schema, string[]]>([
    [{ type: "string", minLength: 1, maxLength: 256_000 }, ["1 to 256,000 characters"]],
    [{ type: "string", minLength: 0, maxLength: 5 }, ["at most 5 characters"]],
    [
      { type: "integer", minimum: 0, maximum: 999_999_999_999_999, default: 0 },
      ["at least 0", "default 0"],
    ],
    [{ type: "array", minItems: 1, maxItems: 1 }, ["exactly 1 item"]],
    [{ type: "boolean" }, []],
  ])("%j", (schema, texts) => {
    expect(describeConstraints(schemas, schema)).toEqual(texts)
  })
})

describe("expandSchema", () => {
  test("expands an array to the fields of its items, with the required ones", () => {
    expect(expandSchema(schemas, { type: "array", items: val })).toEqual([
      { name: "id", kind: "field", isRequired: true, schema: { type: "string" } },
    ])
  })

  test("expands a union only when it contains fields", () => {
    expect(expandSchema(schemas, { anyOf: [{ type: "string" }, { type: "integer" }] })).toEqual([])
    expect(
      expandSchema(schemas, { anyOf: [{ type: "string" }, val] }).map((field) => field.name),
    ).toEqual(["string", "Val"])
  })

  test("expands the response of a real list", () => {
    const { schemas } = realApi.components
    const { content } = realOperation("listVals").responses["200"] ?? {}
    const [data] = expandSchema(schemas, content?.["application/json"]?.schema ?? {})
    expect(expandSchema(schemas, data?.schema ?? {}).map((field) => field.name)).toContain("code")
  })
})

test("allowedValues includes the enum of the items", () => {
  expect(allowedValues(schemas, { type: "array", items: { enum: ["a", "b"] } })).toEqual(["a", "b"])
  expect(allowedValues(schemas, { enum: [1, null] })).toEqual(["1", "null"])
})
