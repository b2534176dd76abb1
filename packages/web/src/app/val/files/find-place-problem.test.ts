import { describe, expect, test } from "bun:test"
import { findPlaceProblem } from "./find-place-problem.ts"

const files = [
  { path: "main.tsx", type: "http" },
  { path: "lib", type: "directory" },
  { path: "lib/dates.ts", type: "script" },
  // A new file: its folder is nowhere else.
  { path: "Views/page.tsx", type: "script" },
] as const

describe("findPlaceProblem", () => {
  test.each([
    ["other.ts", undefined],
    ["lib/other.ts", undefined],
    ["a/b/c.ts", undefined],
    ["Views/parts/x.ts", undefined],
    ["lib/format.ts", "lib/dates.ts"],
    ["lib/Dates.ts", "lib/dates.ts"],
    ["helpers", "lib"],
    ["Lib", "lib"],
    ["main.tsx", "main.tsx"],
  ])("lets a file be at %s (from %s)", (to, from) => {
    expect(findPlaceProblem(files, to, from)).toBeUndefined()
  })

  test.each([
    ["main.tsx", undefined, "there is a file with that name"],
    ["lib", undefined, "there is a folder with that name"],
    ["Views", undefined, "there is a folder with that name"],
    ["Main.tsx", undefined, 'there is "main.tsx", and paths must differ in more than case'],
    ["Lib/x.ts", undefined, 'there is "lib", and paths must differ in more than case'],
    ["views/x.ts", undefined, 'there is "Views", and paths must differ in more than case'],
    ["main.tsx/x.ts", undefined, "that is a file, not a folder"],
    ["lib/dates.ts", "main.tsx", "there is a file with that name"],
    ["lib/inner", "lib", "into itself"],
    ["a b.ts", undefined, "the path must contain only"],
    ["a//b.ts", undefined, "the path must not"],
    ["../x.ts", undefined, "the path must not contain"],
    ["", undefined, "the path must not be empty"],
    [`${"d/".repeat(60)}x`, "lib", "the path must"],
  ])("refuses %s (from %s)", (to, from, reason) => {
    expect(findPlaceProblem(files, to, from)).toContain(reason)
  })
})
