import { describe, expect, test } from "bun:test"
import { createSampler } from "./sampler.ts"
import { newSpanId, parseTraceparent, toTraceId, toTraceparent } from "./trace-context.ts"

const traceId = "0af7651916cd43dd8448eb211c80319c"
const valid = `00-${traceId}-b7ad6b7169203331-01`

describe("parseTraceparent", () => {
  test("reads a header, and the one of a later version", () => {
    const context = { traceId, spanId: "b7ad6b7169203331", isSampled: true, state: "" }
    expect(parseTraceparent(valid)).toEqual(context)
    expect(parseTraceparent(`cc${valid.slice(2)}-what-follows`)).toEqual(context)
    expect(parseTraceparent(`${valid.slice(0, -2)}fe`)?.isSampled).toBe(false)
    expect(toTraceparent(context)).toBe(valid)
  })

  test.each([
    ["nothing", ""],
    ["two headers", `${valid}, ${valid}`],
    ["capital letters", valid.toUpperCase()],
    ["no trace", valid.replace(traceId, "0".repeat(32))],
    ["no span", valid.replace("b7ad6b7169203331", "0".repeat(16))],
    ["version ff", `ff${valid.slice(2)}`],
    ["more behind version 00", `${valid}-00`],
    ["a long header", `01${valid.slice(2)}-${"a".repeat(100_000)}`],
    ["other characters", valid.replace("b7", "é!")],
  ])("begins a trace for %s", (_, header) => {
    expect(parseTraceparent(header)).toBeUndefined()
  })

  test("leaves out a state that is too long or not ASCII", () => {
    expect(parseTraceparent(valid, "a=b,c=d")?.state).toBe("a=b,c=d")
    expect(parseTraceparent(valid, "x".repeat(513))?.state).toBe("")
    expect(parseTraceparent(valid, "a=\n")?.state).toBe("")
  })
})

test("ids have the digits of the specification", () => {
  expect(toTraceId("01978a3e-0000-7abc-8def-0123456789ab")).toBe("01978a3e00007abc8def0123456789ab")
  for (let count = 0; count < 100; count++) expect(newSpanId()).toMatch(/^(?!0{16})[0-9a-f]{16}$/)
})

test("createSampler decides as its name says", () => {
  const parent = (isSampled: boolean) => ({ traceId, spanId: "1".repeat(16), isSampled, state: "" })
  const decide = (...[name, ratio]: Parameters<typeof createSampler>) => {
    const sample = createSampler(name, ratio)
    return [undefined, parent(true), parent(false)].map((of) => sample(traceId, of))
  }
  expect(decide("always_on", 0)).toEqual([true, true, true])
  expect(decide("always_off", 1)).toEqual([false, false, false])
  expect(decide("parentbased_always_on", 0)).toEqual([true, true, false])
  expect(decide("parentbased_always_off", 1)).toEqual([false, true, false])
  expect(decide("traceidratio", 1)).toEqual([true, true, true])
  // Its last digits are 0x1c80319c, about 0.11 of the largest number.
  expect(decide("traceidratio", 0.1)).toEqual([false, false, false])
  expect(decide("parentbased_traceidratio", 0.12)).toEqual([true, true, false])
})
