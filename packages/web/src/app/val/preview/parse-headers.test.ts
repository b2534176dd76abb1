import { describe, expect, test } from "bun:test"
import { parseHeaders } from "./parse-headers.ts"

describe("parseHeaders", () => {
  test("reads one header per line, with colons in the value", () => {
    expect(parseHeaders(" a: b\n\nx-url:http://x:1\r\n")).toEqual([
      ["a", "b"],
      ["x-url", "http://x:1"],
    ])
  })

  test("refuses a line without a name", () => {
    expect(() => parseHeaders("nonsense")).toThrow('Cannot read the header "nonsense"')
    expect(() => parseHeaders(": x")).toThrow("Cannot read")
  })
})
