import { describe, expect, test } from "bun:test"
import { createCpuMeter, toCpuLines } from "./cpu-time.mjs"

describe("createCpuMeter", () => {
  test("adds the time since the last call to a file, and the start to none", () => {
    const times = [0.5, 1.5, 1.75, 4]
    const meter = createCpuMeter(() => times.shift())
    for (const file of ["", "a.test.ts", "a.test.ts", "b.test.ts", "b.test.ts"]) meter.addTo(file)
    expect([...meter.secondsByFile]).toEqual([
      ["a.test.ts", 1.25],
      ["b.test.ts", 2.25],
    ])
  })
})

describe("toCpuLines", () => {
  test("names ten files, the dearest first", () => {
    const files = Array.from({ length: 12 }, (_, index): [string, number] => [
      `${index}.test.ts`,
      index,
    ])
    const lines = toCpuLines(179.6, new Map(files))
    expect(lines).toHaveLength(11)
    expect(lines.slice(0, 2)).toEqual([
      "CPU time: 3 min 0 s; the dearest of 12 test files (a server or browser that files share counts for the last of them):",
      "   11.0 s  11.test.ts",
    ])
  })

  test("names every file and the sum of each folder when it is asked to", () => {
    const files = new Map([
      ["a/one.test.ts", 1],
      ["b/three.test.ts", 3],
      ["a/two.test.ts", 2.5],
    ])
    expect(toCpuLines(7, files, true)).toEqual([
      "CPU time: 0 min 7 s; by folder:",
      "    3.5 s  a/",
      "    3.0 s  b/",
      "by file (a server or browser that files share counts for the last of them):",
      "    3.0 s  b/three.test.ts",
      "    2.5 s  a/two.test.ts",
      "    1.0 s  a/one.test.ts",
    ])
  })

  test("says nothing about a single file, or where the time is unknown", () => {
    expect(toCpuLines(1, new Map([["a.test.ts", 1]]))).toEqual([])
    expect(
      toCpuLines(
        undefined,
        new Map([
          ["a", 1],
          ["b", 2],
        ]),
      ),
    ).toEqual([])
  })
})
