import { expect, test } from "bun:test"
import { setImmediate } from "node:timers/promises"
import { createBegunRuns } from "./claimed-runs.ts"

test("createBegunRuns writes the runs that start in one turn once", async () => {
  const written: (readonly string[])[] = []
  const saveBegun = async (_: string, fences: ReadonlyMap<string, number>) => {
    written.push([...fences.keys()])
    return true
  }
  const begun = createBegunRuns({ saveBegun }, "node")
  await Promise.all(["a", "b"].map((id) => begun.note({ id, fence: 1 })))
  for (let turn = 0; turn < 10; turn++) await setImmediate()
  expect(written).toEqual([["a", "b"]])
})
