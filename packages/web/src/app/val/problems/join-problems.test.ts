import { describe, expect, test } from "bun:test"
import { joinProblems } from "./join-problems.ts"
import { toFileProblem } from "./to-file-problem.ts"

describe("joinProblems", () => {
  test("says each problem once, by file and line", () => {
    const type = { path: "b.ts", line: 3, message: "Type 'string' is not assignable" }
    const missing = { path: "a.ts", line: 1, message: 'The import "./c.ts" does not work: one' }
    const unparsed = { path: "c.ts", line: 2, message: "The code does not parse: one (line 2)" }
    const saved = [
      { path: "a.ts", message: 'The import "./c.ts" does not work: other words' },
      { path: "c.ts", line: 3, message: "The code does not parse: other (line 3)" },
      { path: "d.ts", message: 'The import "./c.ts" does not work: of another file' },
      { message: "The deno.json is not valid" },
    ]
    expect(joinProblems([type, unparsed, missing], saved)).toEqual([
      saved[3] as never,
      missing,
      type,
      unparsed,
      saved[2] as never,
    ])
  })
})

describe("toFileProblem", () => {
  test("has the line, and one wording", () => {
    const text = "const a = 1\nconst b: string = a\n"
    const problem = { from: 18, to: 19, severity: "error" as const, message: "No.\nWhy" }
    expect(toFileProblem("a.ts", text, problem)).toEqual({ path: "a.ts", line: 2, message: "No" })
    expect(toFileProblem("a.ts", text, { ...problem, message: "No.", isSyntax: true })).toEqual({
      path: "a.ts",
      line: 2,
      message: "The code does not parse: No (line 2)",
    })
  })
})
