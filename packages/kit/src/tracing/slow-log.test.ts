import { afterEach, expect, jest, test } from "bun:test"
import { explainWaits, SlowLog } from "./slow-log.ts"

afterEach(() => jest.useRealTimers())

test("SlowLog writes a few lines per minute, and how many it has left out", () => {
  const lines: object[] = []
  const slow = new SlowLog(10, (fields) => lines.push(fields))
  for (let n = 0; n < 1_000; n++) slow.note({ cause: "val" })
  expect(lines.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => ({ cause: "val" })))
  slow.note({ cause: "database" })
  expect(lines.at(-1)).toMatchObject({ cause: "database" })
  // A slow machine may have refilled it meanwhile, by one line in three seconds.
  expect(lines.length).toBeLessThan(100)
  expect([slow.msMin, new SlowLog(undefined, () => {}).msMin]).toEqual([
    10,
    Number.POSITIVE_INFINITY,
  ])
})

test("explainWaits names what took longest", () => {
  expect(explainWaits({ database: 3.4, queue: 1_200.6, rest: 20 })).toEqual({
    cause: "queue",
    waitedMs: { database: 3, queue: 1_201, rest: 20 },
  })
})
