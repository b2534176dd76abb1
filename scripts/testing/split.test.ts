import { describe, expect, test } from "bun:test"
import { root } from "../setup/root.mjs"
import { splitTests, toBatches } from "./split.mjs"
import { listTestFiles } from "./test-files.mjs"

describe("splitTests", () => {
  test("puts every test file in exactly one batch", () => {
    const paths = splitTests(root, 12).flat()
    expect(paths.toSorted()).toEqual(
      listTestFiles(root)
        .map((path) => `./${path}`)
        .sort(),
    )
  })
})

describe("toBatches", () => {
  test("keeps slow files apart and starts with the longest batch", () => {
    const slow = [
      "packages/server/test/fuzz.test.ts",
      "packages/server/test/attacks/sandbox.test.ts",
    ]
    const batches = toBatches(["a.test.ts", ...slow, "b.test.ts"], 3)
    expect(batches).toHaveLength(3)
    expect(batches.slice(0, 2).flat().toSorted()).toEqual(slow.map((path) => `./${path}`).sort())
    expect(batches[2]).toEqual(["./a.test.ts", "./b.test.ts"])
  })

  test("leaves out batches without files", () => {
    expect(toBatches(["a.test.ts"], 3)).toEqual([["./a.test.ts"]])
  })
})
