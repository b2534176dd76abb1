import { describe, expect, test } from "bun:test"
import { parseHeaders } from "./parse-headers.ts"
import { prettify } from "./prettify.ts"

describe("parseHeaders", () => {
  test("takes a line for each, with colons in the value", () => {
    expect(parseHeaders(" a: b\n\nx-url:http://x:1\r\n")).toEqual([
      ["a", "b"],
      ["x-url", "http://x:1"],
    ])
  })

  test("refuses what is no header", () => {
    expect(() => parseHeaders("nonsense")).toThrow('Cannot read the header "nonsense"')
    expect(() => parseHeaders(": x")).toThrow("Cannot read")
  })
})

describe("prettify", () => {
  test("breaks the lines of JSON and leaves everything else", () => {
    expect(prettify('{"a":1}', "application/json")).toBe('{\n  "a": 1\n}')
    expect(prettify('{"a":1}', "text/plain")).toBe('{"a":1}')
    expect(prettify("{", "application/json")).toBe("{")
  })
})
