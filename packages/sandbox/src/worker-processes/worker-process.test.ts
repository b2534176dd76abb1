import { expect, test } from "bun:test"
import { hasTimedOut } from "./worker-process.ts"

test.each([
  ["within its time", 999, 999, false],
  ["that worked on two cores, within its time", 600, 1_200, false],
  ["that worked all its time", 1_001, 1_001, true],
  ["that waited for a core most of the time", 1_001, 10, false],
  ["that worked all its time in turns with others", 3_000, 1_000, true],
  ["that waits for something else than a core", 5_000, 10, true],
])("hasTimedOut of a request %s", (_, ageMs, workedMs, expected) => {
  expect(hasTimedOut(ageMs, workedMs, 1_000)).toBe(expected)
})
