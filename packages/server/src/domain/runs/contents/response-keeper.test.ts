import { describe, expect, test } from "bun:test"
import { noMask } from "@hamlet/kit"
import { ResponseKeeper, responseLimits } from "./response-keeper.ts"

const limits = { ...responseLimits, bodyBytesMax: 100, responsesPerSecondMax: 3 }

function createKeeper() {
  const clock = { ms: 0 }
  const keeper = new ResponseKeeper(limits, () => clock.ms)
  const keep = (valId: string, status = 200) => {
    const body = Buffer.from("hello")
    return keeper.keep({ valId, status, headers: [["content-type", "text/plain"]], body }, noMask)
  }
  return { clock, keep }
}

describe("ResponseKeeper", () => {
  test("keeps so many responses of a val each second", () => {
    const { clock, keep } = createKeeper()
    const isKept = () => keep("busy") !== null
    expect([isKept(), isKept(), isKept(), isKept()]).toEqual([true, true, true, false])
    clock.ms += 1_000
    expect(isKept()).toBe(true)
  })

  test("keeps the response of another val, and a failure among many successes", () => {
    const { keep } = createKeeper()
    for (let count = 0; count < 10; count++) keep("busy")
    expect(keep("quiet")?.body).toBe("hello")
    expect(keep("busy", 500)?.body).toBe("hello")
    expect(keep("busy", 404)).toBeNull()
  })
})
