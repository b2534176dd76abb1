import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { codeOf } from "../../../test/support/rules.ts"
import { type ApiResponse, json } from "../response/api-response.ts"
import { parseIdempotencyKey, parseIfMatch, respondIfChanged, withEtag } from "./preconditions.ts"

const etagOf = (response: ApiResponse) => response.headers.etag ?? ""

describe("withEtag", () => {
  test("gives equal tags to equal content and version only", () => {
    const content = fc.record({ body: fc.jsonValue(), version: fc.integer({ min: 1, max: 3 }) })
    fc.assert(
      fc.property(content, content, (left, right) => {
        const tags = [left, right].map(({ body, version }) =>
          etagOf(withEtag(json(200, body), version)),
        )
        const isSame =
          JSON.stringify(left.body) === JSON.stringify(right.body) && left.version === right.version
        expect(tags[0] === tags[1]).toBe(isSame)
      }),
    )
  })

  test("creates a tag that parseIfMatch reads as the version", () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 1, max: 2_147_483_647 }), (body, version) => {
        const tag = etagOf(withEtag(json(200, body), version))
        expect(tag).toMatch(/^"\d+-[0-9a-z]+"$/)
        expect(parseIfMatch(tag)).toBe(version)
        expect(parseIfMatch(`W/${tag}`)).toBe(version)
      }),
    )
  })
})

describe("respondIfChanged", () => {
  const response = withEtag(json(200, { a: 1 }, { vary: "authorization" }), 3)
  const etag = etagOf(response)

  test.each([
    ["the tag", etag],
    ["the weak tag", `W/${etag}`],
    ["the tag among others", `"other", W/${etag} ,"more"`],
    ["a star", "*"],
  ])("is 304 without a body for %s", (_, header) => {
    expect(respondIfChanged(response, header)).toEqual({
      status: 304,
      headers: { vary: "authorization", etag },
      body: null,
    })
  })

  test.each([
    ["no tag", null],
    ["an empty one", ""],
    ["another tag", '"3-other"'],
    ["the version alone", '"3"'],
    ["the tag without its quotes", etag.slice(1, -1)],
  ])("returns the whole response for %s", (_, header) => {
    expect(respondIfChanged(response, header)).toBe(response)
  })

  test("returns the whole response without a tag, or if it is an error", () => {
    const plain = json(200, 1)
    const refusal = { ...response, status: 404 }
    expect(respondIfChanged(plain, "*")).toBe(plain)
    expect(respondIfChanged(refusal, etag)).toBe(refusal)
  })
})

describe("parseIfMatch", () => {
  const table: readonly [string | null, number | undefined][] = [
    [null, undefined],
    ["*", undefined],
    [" * ", undefined],
    ['"3"', 3],
    ["3", 3],
    [' "3" ', 3],
    ['W/"3"', 3],
    ['"3-abc09"', 3],
    ['"0"', 0],
    ['"003"', 3],
    ['"999999999999999"', 999_999_999_999_999],
  ]
  test.each(table)("reads %j", (header, version) => {
    expect(parseIfMatch(header)).toBe(version)
  })

  test.each([
    "",
    '""',
    '"x"',
    '"-3"',
    '"3", "4"',
    '"3.0"',
    '"3-"',
    '"3-ABC"',
    '"1e3"',
    '"9999999999999999"',
    "3 4",
    '"3"x',
    "W/",
    "\u0663",
  ])("refuses %j", async (header) => {
    expect(await codeOf(() => parseIfMatch(header))).toBe("invalid_request")
  })

  test("names the invalid header", () => {
    expect(() => parseIfMatch("x")).toThrow(
      'Cannot accept header if-match: it must be one version number in quotes, like "3"',
    )
  })
})

describe("parseIdempotencyKey", () => {
  test.each([null, "x", "a key with spaces", "~!@#", "x".repeat(255)])("accepts %j", (header) => {
    expect(parseIdempotencyKey(header)).toBe(header ?? undefined)
  })

  test.each(["", "x".repeat(256), "tab\t", "é", "✓", "\x7f", "line\n"])(
    "refuses %j",
    async (header) => {
      expect(await codeOf(() => parseIdempotencyKey(header))).toBe("invalid_request")
    },
  )
})
