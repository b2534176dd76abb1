import { expect, test } from "bun:test"
import { toAgo } from "./ago.ts"
import { toOneLine, toVisible } from "./visible.ts"

test("toVisible shows control characters, and leaves text unchanged", () => {
  expect(toVisible("a\x1b[31mb\x07\x00\x7f\x9b2J\r\nnext\tä 日本 👍\rx")).toBe(
    "a␛[31mb␇␀␡\ufffd2J\nnext\tä 日本 👍␍x",
  )
})

test("toOneLine removes line breaks and tabs", () => {
  expect(toOneLine("a\tb\n\nc\r\nd\x1b")).toBe("a b c d␛")
})

test("toAgo formats relative times", () => {
  const now = Date.parse("2026-01-31T12:00:00Z")
  const ago = (seconds: number) => toAgo(new Date(now - seconds * 1000).toISOString(), now)
  expect([0, 59, 60, 7_199, 86_400, 2_592_000, 63_072_000, -120].map(ago)).toEqual([
    "just now",
    "just now",
    "1 minute ago",
    "1 hour ago",
    "1 day ago",
    "1 month ago",
    "2 years ago",
    "in 2 minutes",
  ])
})
