import { describe, expect, test } from "bun:test"
import { waitUntil, waitUntilStable } from "./wait-until.ts"

describe("waitUntil", () => {
  test("returns the first truthy value", async () => {
    let looks = 0
    expect(await waitUntil(() => ++looks === 7 && `look ${looks}`)).toBe("look 7")
  })

  test("fails at the deadline with the condition and the last value", async () => {
    await expect(waitUntil(async () => null, { msMax: 1 })).rejects.toThrow(
      "Waited 1 ms for: async () => null\nLast seen: null",
    )
  })

  test("fails with the words and the state that the caller gives", async () => {
    const options = { what: "two runs", msMax: 1, seen: () => ({ runs: 1 }) }
    await expect(waitUntil(() => false, options)).rejects.toThrow(
      "Waited 1 ms for: two runs\nLast seen: {\n  runs: 1,\n}",
    )
  })

  test("fails at once when the condition throws", async () => {
    const condition = () => {
      throw new Error("no server")
    }
    await expect(waitUntil(condition)).rejects.toThrow("no server")
  })
})

test("waitUntilStable returns the value that no longer changes", async () => {
  let reads = 0
  expect(await waitUntilStable(() => Math.min(++reads, 5), 20)).toBe(5)
})
