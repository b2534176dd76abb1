import { describe, expect, test } from "bun:test"
import { typedToCurl } from "./to-curl.ts"

const endpoint = "https://ada-shop.example.com"

describe("typedToCurl", () => {
  test("is the address alone for a plain GET", () => {
    const request = { method: "GET", path: "/a?b=1", headers: "", body: "not sent" }
    expect(typedToCurl(request, { endpoint, isPrivate: false })).toBe(`curl '${endpoint}/a?b=1'`)
  })

  test("quotes headers and body, and reads the token of a private val from the environment", () => {
    const request = { method: "PUT", path: "/", headers: "x-a: it's", body: "@file 'x'" }
    expect(typedToCurl(request, { endpoint: `${endpoint}/`, isPrivate: true })).toBe(
      [
        `curl -X PUT '${endpoint}/'`,
        '-H "Authorization: Bearer $HAMLET_TOKEN"',
        "-H 'x-a: it'\\''s'",
        "--data-raw '@file '\\''x'\\'''",
      ].join(" \\\n  "),
    )
  })
})
