import { describe, expect, test } from "bun:test"
import ts from "typescript-js"
import { findChangeRange, toSnapshot } from "./snapshot.ts"

describe("findChangeRange", () => {
  for (const [before, after] of [
    ["", "a"],
    ["abc", "abc"],
    ["abc", "abXc"],
    ["aaa", "aaaa"],
    ["aaaa", "aa"],
    ["one two three", "one 2 three"],
    ["a", ""],
  ] as const)
    test(`turns "${before}" into "${after}"`, () => {
      const { span, newLength } = findChangeRange(before, after)
      const inserted = after.slice(span.start, span.start + newLength)
      expect(before.slice(0, span.start) + inserted + before.slice(span.start + span.length)).toBe(
        after,
      )
    })
})

test("toSnapshot lets TypeScript parse only what has changed", () => {
  const lines = Array.from({ length: 1_000 }, (_, index) => `export const a${index} = ${index}`)
  const before = toSnapshot(lines.join("\n"))
  const source = ts.createLanguageServiceSourceFile(
    "/a.ts",
    before,
    ts.ScriptTarget.ESNext,
    "1",
    true,
  )
  const first = source.statements[10]
  const after = toSnapshot(lines.with(500, "export const other = 500").join("\n"))
  const changed = ts.updateLanguageServiceSourceFile(
    source,
    after,
    "2",
    after.getChangeRange(before),
  )
  expect(changed.statements).toHaveLength(1_000)
  // The statement is the same object, not one that was parsed again.
  expect(changed.statements[10]).toBe(first as ts.Statement)
  expect(changed.statements[500]?.getText(changed)).toBe("export const other = 500")
})
