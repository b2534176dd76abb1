import { expect, test } from "bun:test"
import { toBytes } from "./bytes.ts"

test("toBytes takes the unit that fits", () => {
  expect([0, 999, 1_000, 123_456, 5_500_000_000].map(toBytes)).toEqual([
    "0 bytes",
    "999 bytes",
    "1.0 KB",
    "123 KB",
    "5.5 GB",
  ])
})
