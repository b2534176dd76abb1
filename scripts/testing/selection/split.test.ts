import { describe, expect, test } from "bun:test"
import { root } from "../../setup/root.mjs"
import { splitTests, toBatches } from "./split.mjs"
import { listTestFiles } from "./test-files.mjs"

describe("splitTests", () => {
  test("puts every test file in exactly one batch", () => {
    const paths = splitTests(root, 45).flat()
    expect(paths.toSorted()).toEqual(
      listTestFiles(root)
        .map((path) => `./${path}`)
        .sort(),
    )
  })
})

describe("toBatches", () => {
  const slow = [
    "packages/server/test/attacks/sandbox.test.ts",
    "packages/server/test/query-plans.test.ts",
  ]

  test("keeps slow files apart and starts with the longest batch", () => {
    const batches = toBatches(["a.test.ts", ...slow, "b.test.ts"], 40)
    expect(batches.length).toBeGreaterThan(1)
    for (const batch of batches)
      expect(slow.filter((path) => batch.includes(`./${path}`)).length).toBeLessThanOrEqual(1)
    expect(batches[0]?.some((path) => slow.includes(path.slice(2)))).toBe(true)
    expect(batches.flat().toSorted()).toEqual(
      ["a.test.ts", ...slow, "b.test.ts"].map((path) => `./${path}`).sort(),
    )
  })

  test("keeps the suites together that share a server, however long they take", () => {
    const shared = ["packages/cli/test/suites/a.test.ts", "packages/cli/test/suites/b.test.ts"]
    for (const secondsPerBatch of [1, 1_000])
      expect(toBatches([...slow, ...shared, "b.test.ts"], secondsPerBatch)).toContainEqual(
        shared.map((path) => `./${path}`),
      )
  })

  test("makes no batch without files", () => {
    expect(toBatches(["a.test.ts"], 0.1)).toEqual([["./a.test.ts"]])
    expect(toBatches([], 10)).toEqual([])
  })
})
