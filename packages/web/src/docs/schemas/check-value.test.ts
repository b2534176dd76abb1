import { describe, expect, test } from "bun:test"
import { checkValue } from "./check-value.ts"
import type { Schema } from "./schema.ts"

describe("checkValue", () => {
  test.each<[Schema, string, string | undefined]>([
    [{ type: "integer", minimum: 1, maximum: 100 }, "20", undefined],
    [{ type: "integer", minimum: 1, maximum: 100 }, "500", "should be at most 100"],
    [{ type: "integer" }, "1.5", "should be a whole number"],
    [{ type: "number" }, "x", "should be a number"],
    [{ type: "string", maxLength: 2 }, "abc", "should have at most 2 characters"],
    [{ type: "string", pattern: "^[a-z]+$" }, "A", "should match ^[a-z]+$"],
    [{ type: "string", pattern: "(" }, "A", undefined],
    [{ type: "string", format: "uuid" }, "x", "should be a UUID"],
    [
      { type: "string", format: "date-time" },
      "15 January",
      "should be a date or a time in ISO-8601",
    ],
    [{ type: "string", format: "date-time" }, "2026-01-15", undefined],
    [{ type: "string", format: "date-time" }, "2026-01-15T12:30", undefined],
    [{ type: "string", enum: ["a", "b"] }, "c", "should be one of a, b"],
    [{ anyOf: [{ type: "integer" }, { type: "null" }] }, "x", "should be a number"],
  ])("%j with %p", (schema, text, advice) => {
    expect(checkValue({}, schema, text)).toBe(advice)
  })
})
