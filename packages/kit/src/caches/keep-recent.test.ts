import { expect, test } from "bun:test"
import { keepRecent } from "./keep-recent.ts"

test("keepRecent drops the entry that was used longest ago, and returns it", () => {
  const map = new Map<string, number>()
  expect([keepRecent(map, "a", 1, 2), keepRecent(map, "b", 2, 2)]).toEqual([undefined, undefined])
  expect(keepRecent(map, "a", 3, 2)).toBeUndefined()
  expect(keepRecent(map, "c", 4, 2)).toBe(2)
  expect([...map]).toEqual([
    ["a", 3],
    ["c", 4],
  ])
})
