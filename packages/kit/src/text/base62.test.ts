import { expect, test } from "bun:test"
import { toBase62 } from "./base62.ts"

test("toBase62 writes digits, upper case and lower case, padded with zeros", () => {
  expect([0n, 9n, 10n, 35n, 36n, 61n, 62n, 3843n].map((number) => toBase62(number, 2))).toEqual([
    "00",
    "09",
    "0A",
    "0Z",
    "0a",
    "0z",
    "10",
    "zz",
  ])
})
