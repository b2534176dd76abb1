import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { isJsonType } from "./json.ts"
import { formatBody, printJson } from "./print-json.ts"

describe("printJson", () => {
  test("breaks lines as JSON.stringify does", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        expect(printJson(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2))
      }),
    )
  })

  test("shows numbers and keys as the server wrote them", () => {
    const text = '{"a":9007199254740993,"a":1.0,"b":1e400,"c":"\\u003cb\\u003e"}'
    expect(printJson(text)?.replaceAll(/\s/g, "")).toBe(text)
  })

  test("returns undefined for invalid JSON", () => {
    expect(printJson("{")).toBeUndefined()
    expect(printJson("<b>")).toBeUndefined()
  })

  test("does not fill the memory with the indents of deep nesting", () => {
    const depth = 20_000
    const printed = printJson("[".repeat(depth) + "]".repeat(depth)) ?? ""
    expect(printed.length).toBeLessThan(depth * 8)
    expect(printed.replaceAll(/\s/g, "")).toHaveLength(depth * 2)
  })
})

test("formatBody breaks the lines of JSON and leaves other text unchanged", () => {
  expect(formatBody('{"a":1}', "application/json").text).toBe('{\n  "a": 1\n}')
  expect(formatBody('{"a":1}', "text/plain").text).toBe('{"a":1}')
  expect(formatBody("{", "application/json").text).toBe("{")
})

test("isJsonType accepts JSON and its suffix", () => {
  expect(
    [
      "application/json",
      "application/problem+json; charset=utf-8",
      "text/plain",
      "text/javascript",
    ].map(isJsonType),
  ).toEqual([true, true, false, false])
})
