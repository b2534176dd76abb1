import { expect, test } from "bun:test"
import { isHopByHopHeader, parseConnectionNames } from "./hop-by-hop-headers.ts"

test.each([
  "connection",
  "http2-settings",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
])("isHopByHopHeader is true for %s", (name) => {
  expect(isHopByHopHeader(name)).toBe(true)
})

test.each(["content-length", "cookie", "host", "x-proxy-", "sec-websocket-key", ""])(
  'isHopByHopHeader is false for "%s"',
  (name) => {
    expect(isHopByHopHeader(name)).toBe(false)
  },
)

test("parseConnectionNames reads the names of all Connection headers in lower case", () => {
  const names = parseConnectionNames(["close, X-A ,, ä", "x-b"])
  expect([...names].sort()).toEqual(["", "close", "x-a", "x-b", "ä"])
  expect(parseConnectionNames([]).size).toBe(0)
})
