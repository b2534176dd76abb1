import { describe, expect, test } from "bun:test"
import { findRedirectProblem, isRegistered } from "./redirect-uris.ts"

const accepted = [
  "https://client.invalid",
  "https://client.invalid/",
  "https://client.invalid/cb?x=1&y=%20",
  "https://client.invalid:8443/cb",
  "https://xn--bcher-kva.example/",
  "https://192.0.2.1/cb",
  "https://[2001:db8::1]/cb",
  "https://a_b.client.invalid/",
  "http://localhost:7777/cb",
  "http://127.0.0.1",
  "http://[::1]:1/",
  "com.example.app:/done",
  "com.example.app://done/x",
  "cursor://anysphere.cursor-mcp/oauth/callback",
]

const refused = [
  "https://a.example\\@evil.example/",
  "https:\\\\evil.example/",
  "https://a.example/\\x",
  "https://*.example/",
  "https://*/",
  "https://a,b.example/",
  "https://a..example/",
  "https://a.example./",
  "https:///x",
  "https:/x",
  "https:x",
  "https://@a.example/",
  "https://a.example@evil.example/",
  "https://a.example:@evil.example/",
  "https://A.example/",
  "HTTPS://a.example/",
  "https://a.example:443/",
  "https://a.example/x/../y",
  "https://a.example/%2e%2e/y",
  "https://%61.example/",
  "https://0x7f.1/",
  "https://2130706433/",
  "http://localhost\\@evil.example/",
  "http://127.1/",
  "ms-msdt:x",
  "ms-msdt://x",
  "search-ms:query=x",
  "javascript:alert(1)",
  "javascript://a.example/%0aalert(1)",
  "vbscript:x",
  "slack://x",
  ".app:/x",
  "app.:/x",
  "a..b:/x",
  "Com.example.app:/done",
]

describe("findRedirectProblem", () => {
  test.each(accepted)("accepts %s", (uri) => {
    expect(findRedirectProblem(uri)).toBeUndefined()
  })

  test.each(refused)("refuses %s", (uri) => {
    expect(findRedirectProblem(uri)).toBeString()
  })
})

test("isRegistered refuses what is registered and may not be", () => {
  expect(isRegistered(["https://*.example/"], "https://*.example/")).toBe(false)
})
