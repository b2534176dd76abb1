import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { parseRequestUrl, toPath } from "./request-url.ts"

/** Bun derives `url` from any Host header; `new Request` would refuse some of these. */
const toRequest = (url: string) => ({ url }) as Request

describe("toPath and parseRequestUrl", () => {
  const table: readonly [string, path: string, target: string][] = [
    ["http://hamlet.test/v1/vals", "/v1/vals", "/v1/vals"],
    ["http://hamlet.test/v1/vals/", "/v1/vals/", "/v1/vals/"],
    ["http://hamlet.test/v1/vals//", "/v1/vals//", "/v1/vals//"],
    ["http://hamlet.test/", "/", "/"],
    ["http://hamlet.test", "/", "/"],
    ["http://hamlet.test//", "//", "//"],
    ["http://hamlet.test/v1/vals?limit=1&x=/y", "/v1/vals", "/v1/vals?limit=1&x=/y"],
    ["http://hamlet.test/v1/vals/?limit=1", "/v1/vals/", "/v1/vals/?limit=1"],
    ["http://hamlet.test/?a=b", "/", "/?a=b"],
    ["http://[::1]:8080/v1", "/v1", "/v1"],
    ["http://user:pass@hamlet.test/v1", "/v1", "/v1"],
    ["/v1/vals", "/v1/vals", "/v1/vals"],
    ["/v1/vals/?a=/b", "/v1/vals/", "/v1/vals/?a=/b"],
    ["/", "/", "/"],
    ["//evil.example/v1", "//evil.example/v1", "//evil.example/v1"],
    ["/a://b/c", "/a://b/c", "/a://b/c"],
    ["http://not a host/v1/vals?x", "/v1/vals", "/v1/vals?x"],
    ["http:///v1", "/v1", "/v1"],
  ]
  test.each(table)("of %s", (url, path, target) => {
    expect(toPath(toRequest(url))).toBe(path)
    const parsed = parseRequestUrl(url)
    expect(parsed.pathname + parsed.search).toBe(target)
  })

  test("return a path with a leading slash for any URL, and never throw", () => {
    const urls = fc.oneof(
      fc.webUrl({ withQueryParameters: true }),
      fc.string({ unit: "binary" }).map((text) => `/${text}`),
      fc
        .tuple(fc.string({ unit: "binary" }), fc.webPath())
        .map(([host, path]) => `http://${host}${path}`),
      fc.string({ unit: "binary" }),
    )
    fc.assert(
      fc.property(urls, (url) => {
        expect(toPath(toRequest(url))).toStartWith("/")
        expect(parseRequestUrl(url).host).toBe("localhost")
      }),
      { numRuns: 500 },
    )
  })

  test("return the same path for any URL", () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true }), (url) => {
        const request = new Request(url)
        expect(toPath(request)).toBe(parseRequestUrl(request.url).pathname)
      }),
    )
  })
})
