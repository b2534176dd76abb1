import { describe, expect, test } from "bun:test"
import { addEnds, toReport } from "./report.mjs"

const good = {
  exitCode: 0,
  totals: { passed: 3, failed: 0, skipped: 0 },
  notRun: [],
  leaks: [],
  failures: [],
  isCi: true,
}

describe("toReport", () => {
  test("ends with the totals and nothing else when all is well", () => {
    expect(toReport(good)).toEqual({ lines: ["3 passed, 0 failed"], exitCode: 0 })
  })

  test("names skipped tests only if there are any", () => {
    expect(toReport({ ...good, totals: { passed: 3, failed: 0, skipped: 2 } }).lines).toEqual([
      "3 passed, 0 failed, 2 skipped",
    ])
  })

  test("fails with the tests", () => {
    expect(
      toReport({ ...good, exitCode: 1, totals: { passed: 3, failed: 2, skipped: 0 } }),
    ).toEqual({
      lines: ["3 passed, 2 failed"],
      exitCode: 1,
    })
  })

  test("repeats the failed tests before the last line", () => {
    const failures = [{ title: "a.test.ts: adds", lines: ["", "Expected: 3", ""] }]
    const totals = { passed: 3, failed: 1, skipped: 0 }
    expect(toReport({ ...good, exitCode: 1, totals, failures }).lines).toEqual([
      "",
      "failed: a.test.ts: adds",
      "Expected: 3",
      "",
      "3 passed, 1 failed",
    ])
  })

  test("fails when bun ended early, even if it claims success", () => {
    expect(toReport({ ...good, totals: undefined })).toEqual({
      lines: ["bun ended with exit code 0 before the tests did", "0 passed, 1 failed"],
      exitCode: 1,
    })
  })

  test("fails when bun does although every test passed", () => {
    expect(toReport({ ...good, exitCode: 1 })).toEqual({
      lines: ["bun ended with exit code 1 although no test failed", "3 passed, 1 failed"],
      exitCode: 1,
    })
  })

  test("fails when no test ran", () => {
    expect(toReport({ ...good, totals: { passed: 0, failed: 0, skipped: 4 } }).exitCode).toBe(1)
  })

  test("fails when something was left behind", () => {
    expect(toReport({ ...good, leaks: ["process 7: deno"] })).toEqual({
      lines: ["left behind by a test: process 7: deno", "3 passed, 1 failed"],
      exitCode: 1,
    })
  })

  test("names suites that did not run, and lets only CI fail for it", () => {
    const withoutBrowser = { ...good, notRun: ["browser: Chromium is not installed"] }
    expect(toReport(withoutBrowser).exitCode).toBe(1)
    expect(toReport({ ...withoutBrowser, isCi: false })).toEqual({
      lines: ["not run: browser: Chromium is not installed", "3 passed, 0 failed"],
      exitCode: 0,
    })
  })
})

describe("addEnds", () => {
  test("adds up what ran and keeps what was left", () => {
    const { isCi: _, ...end } = good
    const other = {
      exitCode: 1,
      totals: { passed: 1, failed: 2, skipped: 1 },
      notRun: ["x", "x"],
      leaks: ["a file"],
      failures: [{ title: "adds", lines: [] }],
    }
    expect(addEnds([end, other])).toEqual({
      exitCode: 1,
      totals: { passed: 4, failed: 2, skipped: 1 },
      notRun: ["x"],
      leaks: ["a file"],
      failures: [{ title: "adds", lines: [] }],
    })
  })

  test("knows no totals when one part did not reach its end", () => {
    const { isCi: _, ...end } = good
    expect(addEnds([end, { ...end, totals: undefined }]).totals).toBeUndefined()
  })
})
