import { describe, expect, test } from "bun:test"
import { parseStackLine, splitError } from "./stack.ts"

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

describe("splitError", () => {
  const message = "Expected ',', got 'return'\n  |\n3 |   return"

  test("keeps the lines of a message, and does not repeat it", () => {
    const stack = `SyntaxError: ${message}\n    at ada/dice.tsx:3:3`
    expect(splitError({ name: "SyntaxError", message, stack })).toEqual({
      title: "Expected ',', got 'return'",
      details: "  |\n3 |   return\n    at ada/dice.tsx:3:3",
    })
  })

  test("has no details for one line without a stack", () => {
    expect(splitError({ name: "Error", message: "no", stack: null })).toEqual({
      title: "no",
      details: "",
    })
  })
})
