import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { parseHost } from "./host.ts"

const label63 = "a".repeat(63)

describe("parseHost", () => {
  test.each([
    ["example.com", "example.com"],
    ["EXAMPLE.Com", "example.com"],
    ["example.com.", "example.com"],
    ["localhost.", "localhost"],
    ["LOCALHOST", "localhost"],
    ["ⓛocalhost", "localhost"],
    ["loca\u00adlhost", "localhost"],
    ["intranet", "intranet"],
    ["a_b.example", "a_b.example"],
    ["r3---sn.example", "r3---sn.example"],
    ["bücher.example", "xn--bcher-kva.example"],
    ["xn--bcher-kva.example", "xn--bcher-kva.example"],
    ["example。com", "example.com"],
    [`${label63}.example`, `${label63}.example`],
    ["127.0.0.1.nip.io", "127.0.0.1.nip.io"],
  ])("reads %s as the name %s", (text, name) => {
    expect(parseHost(text)).toEqual({ kind: "name", name })
  })

  test.each([
    "",
    ".",
    "..",
    ".example.com",
    "example..com",
    "example.com..",
    "127.0.0.1..",
    "[]",
    "[",
    "]",
    "[example.com]",
    "[127.0.0.1]",
    "[::1",
    "::1]",
    "[[::1]]",
    "[fe80::1%25eth0]",
    "fe80::1%eth0",
    "example.com:80",
    "example.com/path",
    "user@example.com",
    "example.com?x",
    "example.com#x",
    "example.com\\x",
    "exa%6dple.com",
    "%31%32%37.0.0.1",
    "exa mple.com",
    " example.com",
    "example.com\n",
    "exam\tple.com",
    "example.com\0",
    "exa!mple.com",
    "exa$mple.com",
    "*.example.com",
    "a,b",
    "http://example.com",
    "1.2.3.4.5",
    "example.1",
    "example.0x7f",
    "256.256.256.256",
    "08.8.8.8",
    "4294967296",
    `${label63}a.example`,
    `${label63}.${label63}.${label63}.${label63}`,
    "a.".repeat(200),
    "a".repeat(100_000),
  ])("rejects %.50p", (text) => {
    expect(parseHost(text)).toBeUndefined()
  })

  test("never throws, and parses its own output to the same host", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: "grapheme" }), fc.domain(), fc.ipV4Extended(), fc.ipV6()),
        (text) => {
          const host = parseHost(text)
          if (!host) return
          const canonical = host.kind === "name" ? host.name : host.address.text
          expect(parseHost(canonical)).toEqual(host)
          expect(canonical).toMatch(/^[a-z0-9._:-]+$/)
        },
      ),
      { numRuns: 2000 },
    )
  })

  test("agrees with the URL parser", () => {
    fc.assert(
      fc.property(
        fc.webAuthority({ withIPv4: true, withIPv4Extended: true, withIPv6: true }),
        (authority) => {
          const hostname = URL.parse(`http://${authority}`)?.hostname
          if (hostname === undefined) return
          const host = parseHost(hostname)
          expect(host?.kind === "address").toBe(/^(\[.*\]|[\d.]+)$/.test(hostname))
        },
      ),
      { numRuns: 2000 },
    )
  })
})
