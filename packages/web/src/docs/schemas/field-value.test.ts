import { describe, expect, test } from "bun:test"
import type { Json } from "../../ui/code/json.ts"
import { fieldKind, textToValue, valueToText } from "./field-value.ts"
import type { Schema } from "./schema.ts"

const list: Schema = { type: "array", items: { type: "string" } }
const choices: Schema = { type: "array", items: { enum: ["a", "b"] } }

describe("fieldKind", () => {
  test.each<[Schema, string]>([
    [{ type: "string" }, "line"],
    [{ type: "string", maxLength: 256_000 }, "lines"],
    [{ type: "integer" }, "number"],
    [{ type: "boolean" }, "choice"],
    [{ type: "string", enum: ["a"] }, "choice"],
    [choices, "choices"],
    [list, "list"],
    [{ type: "object" }, "json"],
    [{}, "json"],
  ])("%j is typed as a %s", (schema, kind) => {
    expect(fieldKind({}, schema)).toBe(kind as ReturnType<typeof fieldKind>)
  })
})

describe("textToValue and valueToText", () => {
  test.each<[Schema, string, Json]>([
    [{ type: "string" }, "5", "5"],
    [{ type: "integer" }, "5", 5],
    [{ type: "boolean" }, "true", true],
    [list, "a\nb", ["a", "b"]],
    [choices, "b", ["b"]],
    [{}, '{"a":[1,null]}', { a: [1, null] }],
  ])("%j: %p there and back", (schema, text, value) => {
    expect(textToValue({}, schema, text)).toEqual(value)
    expect(valueToText(value)).toBe(text)
  })

  test("keeps invalid input as text", () => {
    expect(textToValue({}, { type: "integer" }, "five")).toBe("five")
    expect(textToValue({}, {}, "{")).toBe("{")
  })
})
