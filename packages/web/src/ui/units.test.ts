import { describe, expect, test } from "bun:test"
import { toBytes, toDuration } from "./units.ts"

test("toBytes takes the unit that fits", () => {
  expect([0, 999, 1_000, 123_456, 5_500_000_000].map(toBytes)).toEqual([
    "0 bytes",
    "999 bytes",
    "1.0 KB",
    "123 KB",
    "5.5 GB",
  ])
})

describe("toDuration", () => {
  test("keeps two digits that matter", () => {
    expect([null, 0.123, 12.3, 999.4, 1_234, 125_000].map(toDuration)).toEqual([
      "…",
      "0.1 ms",
      "12 ms",
      "999 ms",
      "1.2 s",
      "2 min 5 s",
    ])
  })
})
