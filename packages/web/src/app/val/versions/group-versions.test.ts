import { describe, expect, test } from "bun:test"
import { groupVersions, type VersionChange } from "./group-versions.ts"

const start = Date.parse("2026-05-05T12:00:00.000Z")

function toVersion(version: number, seconds: number, paths: readonly string[], note?: string) {
  return {
    version,
    createdAt: new Date(start + seconds * 1_000).toISOString(),
    note: note ?? null,
    author: null,
    changes: paths.map((path) => ({ path, kind: "changed" as const, oldPath: null })),
    hasMoreChanges: false,
  } satisfies VersionChange
}

function toNumbers(versions: readonly VersionChange[]) {
  return groupVersions(versions).map((group) => group.map(({ version }) => version))
}

describe("groupVersions", () => {
  test("puts versions of different files within a minute together", () => {
    const versions = [
      toVersion(5, 200, ["a"]),
      toVersion(4, 65, ["c"]),
      toVersion(3, 60, ["b"]),
      toVersion(2, 59, ["a"]),
      toVersion(1, 4, ["d"]),
    ]
    expect(toNumbers(versions)).toEqual([[5], [4, 3, 2], [1]])
  })

  test("leaves saves of the same file apart, and versions with a note", () => {
    const saves = [toVersion(3, 2, ["a"]), toVersion(2, 1, ["a"]), toVersion(1, 0, ["a"])]
    expect(toNumbers(saves)).toEqual([[3], [2], [1]])
    const noted = [toVersion(3, 2, ["a"]), toVersion(2, 1, ["b"], "Merge"), toVersion(1, 0, ["c"])]
    expect(toNumbers(noted)).toEqual([[3], [2], [1]])
  })

  test("keeps every version once, in order, and no path twice in a group", () => {
    for (let seed = 0; seed < 500; seed++) {
      const random = (index: number, below: number) =>
        Math.imul(seed * 31 + index + 1, 2_654_435_761) % below
      const versions = Array.from({ length: 12 }, (_, index) => {
        const paths = [`f${Math.abs(random(index, 5))}`]
        const note = random(index, 7) === 0 ? "note" : undefined
        return toVersion(12 - index, (12 - index) * Math.abs(random(seed, 30)), paths, note)
      })
      const groups = groupVersions(versions)
      expect(groups.flat()).toEqual(versions)
      for (const group of groups) {
        const paths = group.flatMap(({ changes }) => changes.map(({ path }) => path))
        expect(new Set(paths).size).toBe(paths.length)
        if (group.length > 1) expect(group.every(({ note }) => note === null)).toBe(true)
        const times = group.map(({ createdAt }) => Date.parse(createdAt))
        expect(Math.max(...times) - Math.min(...times)).toBeLessThanOrEqual(60_000)
      }
    }
  })
})
