import { describe, expect, test } from "bun:test"
import { parseStackLine } from "./stack.ts"

describe("parseStackLine", () => {
  test("finds the user's own line", () => {
    expect(parseStackLine("    at roll (ada/dice.tsx:3:9)")).toEqual({
      before: "    at roll (",
      label: "ada/dice.tsx:3:9",
      after: ")",
      user: "ada",
      val: "dice",
      line: 3,
    })
  })

  test("finds nothing in lines outside vals", () => {
    for (const text of ["Error: no", "    at ext:core/01.js:1:2", "    at npm:zod@4/index.js:3:1"])
      expect(parseStackLine(text)).toBeUndefined()
  })
})
