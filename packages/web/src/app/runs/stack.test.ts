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
      file: undefined,
      line: 3,
    })
  })

  test("finds a line of another file, and of a val with a hyphen", () => {
    expect(parseStackLine("    at fail (ada/my-app/lib/db.ts:12:7)")).toMatchObject({
      label: "ada/my-app/lib/db.ts:12:7",
      user: "ada",
      val: "my-app",
      file: "lib/db.ts",
      line: 12,
    })
    expect(parseStackLine("at ada/my-app.tsx@3:1:2")).toMatchObject({ val: "my-app", line: 1 })
  })

  test("finds nothing in lines outside vals", () => {
    for (const text of [
      "Error: no",
      "    at ext:core/01.js:1:2",
      "    at node:internal/fs/promises.js:3:1",
      "    at npm:zod@4/lib/index.js:3:1",
      "at hono@4.1.0/dist/hono.js:1:2",
      "at https://a.test/b/c.js:1:2",
    ])
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
