import { afterEach, describe, expect, jest, test } from "bun:test"
import fc from "fast-check"
import { createLog, logLevels } from "./log.ts"

const at = Date.parse("2026-01-01T00:00:00.000Z")
const levels = ["debug", "info", "warn", "error"] as const

function createTestLog(level: (typeof logLevels)[number] = "debug") {
  const written: string[] = []
  return {
    written,
    log: createLog(
      level,
      (text) => written.push(text),
      () => at,
    ),
  }
}

afterEach(() => jest.useRealTimers())

describe("createLog", () => {
  test("writes time, level and event, then the fields", () => {
    const { written, log } = createTestLog()
    log.info("request", { status: 200, path: "/" })
    log.error("broken")
    log.flush()
    expect(written).toEqual([
      '{"at":"2026-01-01T00:00:00.000Z","level":"info","event":"request","status":200,"path":"/"}\n' +
        '{"at":"2026-01-01T00:00:00.000Z","level":"error","event":"broken"}\n',
    ])
  })

  test("writes one line with one JSON object for any fields", () => {
    const fields = fc.oneof(
      fc.dictionary(
        fc.string({ unit: "binary" }),
        fc.anything({
          withBigInt: true,
          withDate: true,
          withMap: true,
          withSet: true,
          withTypedArray: true,
        }),
      ),
      fc.object({ withBigInt: true, withNullPrototype: true }),
      fc.array(fc.anything()),
      fc.constantFrom(
        {},
        [],
        new Date(Number.NaN),
        new Map(),
        new Error("x"),
        () => 1,
        { a: undefined },
        { toJSON: () => undefined },
        { toJSON: () => "x" },
      ),
    )
    fc.assert(
      fc.property(fields, fc.constantFrom(...levels), (given, level) => {
        const { written, log } = createTestLog()
        log[level]("event", given)
        log.flush()
        const text = written.join("")
        expect(text).toEndWith("\n")
        expect(text.slice(0, -1)).not.toContain("\n")
        expect(text).toStartWith(
          `{"at":"2026-01-01T00:00:00.000Z","level":"${level}","event":"event"`,
        )
        expect(JSON.parse(text)).toBeObject()
      }),
      { numRuns: 100 },
    )
  })

  test("preserves strings, line ends and quotes included", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const { written, log } = createTestLog()
        log.warn("event", { text })
        log.flush()
        expect(JSON.parse(written.join(""))).toEqual({
          at: "2026-01-01T00:00:00.000Z",
          level: "warn",
          event: "event",
          text,
        })
      }),
    )
  })

  test("does not throw for fields that cannot be serialized", () => {
    const circle: Record<string, unknown> = { status: 200 }
    circle.self = circle
    const bad = {
      get broken() {
        throw new Error("broken")
      },
    }
    for (const fields of [circle, bad, { n: 1n }]) {
      const { written, log } = createTestLog()
      log.error("event", fields)
      log.flush()
      expect(JSON.parse(written.join(""))).toMatchObject({ level: "error", event: "event" })
    }
  })

  test.each(logLevels)("at level %s writes that level and those after it", (level) => {
    const { written, log } = createTestLog(level)
    for (const each of levels) log[each](each)
    log.flush()
    const seen = written
      .join("")
      .trim()
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line).level)
    expect(seen).toEqual(level === "none" ? [] : levels.slice(levels.indexOf(level)))
  })

  test("buffers lines for 100 ms, and writes them in order", () => {
    jest.useFakeTimers()
    const { written, log } = createTestLog()
    for (const n of [1, 2, 3]) log.info("event", { n })
    jest.advanceTimersByTime(99)
    expect(written).toEqual([])
    jest.advanceTimersByTime(1)
    expect(written).toHaveLength(1)
    expect(written.join("").match(/"n":\d/g)).toEqual(['"n":1', '"n":2', '"n":3'])
    log.info("event", { n: 4 })
    jest.advanceTimersByTime(100)
    expect(written).toHaveLength(2)
  })

  test("writes a large buffer at once", () => {
    jest.useFakeTimers()
    const { written, log } = createTestLog()
    for (let n = 0; n < 2_000; n++) log.info("event", { text: "x".repeat(1000) })
    const waiting = 2_000 * 1075 - written.join("").length
    expect(written.length).toBeGreaterThan(20)
    expect(waiting).toBeLessThan(70_000)
  })

  test("flush writes buffered lines once, and leaves no timer", () => {
    jest.useFakeTimers()
    const { written, log } = createTestLog()
    log.info("event")
    log.flush()
    log.flush()
    expect(written).toHaveLength(1)
    expect(jest.getTimerCount()).toBe(0)
  })
})
