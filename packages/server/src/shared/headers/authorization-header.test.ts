import { expect, test } from "bun:test"
import { parseAuthorization } from "./authorization-header.ts"

test.each([
  ["Bearer abc", { scheme: "bearer", credentials: "abc" }],
  ["BASIC   YTpi  ", { scheme: "basic", credentials: "YTpi" }],
  ["Bearer", undefined],
  ["Bearer ", undefined],
  ["Bearer a b", undefined],
  ['Digest username="ada", realm="x"', undefined],
  ["", undefined],
])('parseAuthorization reads "%s" as %p', (header, expected) => {
  expect(parseAuthorization(header)).toEqual(expected)
})
