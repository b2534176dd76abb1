import { describe, expect, test } from "bun:test"
import { resolveSchema } from "./schema.ts"

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })

describe("resolveSchema", () => {
  test("follows references and keeps the last name", () => {
    const schemas = { A: ref("B"), B: { type: "string" } }
    expect(resolveSchema(schemas, ref("A"))).toEqual({
      schema: { type: "string" },
      name: "B",
      isNullable: false,
    })
  })

  test.each([
    ["itself", { A: ref("A") }],
    ["a ring", { A: ref("B"), B: ref("A") }],
    ["nothing", {}],
  ])("takes a reference to %s for anything", (_, schemas) => {
    expect(resolveSchema(schemas, ref("A")).schema).toEqual({})
  })

  test("does not resolve names of Object.prototype", () => {
    expect(resolveSchema({}, ref("constructor")).schema).toEqual({})
  })

  test("removes null from the alternatives, in both notations", () => {
    const inner = { type: "string" }
    expect(resolveSchema({}, { anyOf: [inner, { type: "null" }] })).toEqual({
      schema: inner,
      isNullable: true,
    })
    expect(resolveSchema({}, { type: ["string", "null"] })).toEqual({
      schema: inner,
      isNullable: true,
    })
    expect(resolveSchema({ A: inner }, { anyOf: [ref("A"), { type: "null" }] })).toEqual({
      schema: inner,
      name: "A",
      isNullable: true,
    })
  })

  test("reads an allOf as one object", () => {
    const parts = [ref("A"), { type: "object", properties: { b: {} }, required: ["b"] }]
    const { schema } = resolveSchema(
      { A: { type: "object", properties: { a: {} }, required: ["a"] } },
      { allOf: parts },
    )
    expect(Object.keys(schema.properties ?? {})).toEqual(["a", "b"])
    expect(schema.required).toEqual(["a", "b"])
  })
})
