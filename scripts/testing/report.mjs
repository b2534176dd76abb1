import { toFailureLines } from "./failures.mjs"

/**
 * @typedef {{ passed: number, failed: number, skipped: number }} Totals
 * @typedef {object} TestRunEnd
 * @property {number} exitCode of bun
 * @property {Totals | undefined} totals undefined if bun did not get as far as printing them
 * @property {string[]} notRun suites, each with its reason
 * @property {string[]} leaks what tests left behind
 * @property {import("./failures.mjs").Failure[]} failures
 * @property {boolean} isCi
 */

/**
 * Adds up the results of several runs. The exit code is that of the first run that failed.
 * @param {Omit<TestRunEnd, "isCi">[]} ends
 * @returns {Omit<TestRunEnd, "isCi">}
 */
export function addEnds(ends) {
  const totals = ends.map((end) => end.totals)
  const sum = (/** @type {keyof Totals} */ field) =>
    totals.reduce((count, part) => count + (part?.[field] ?? 0), 0)
  return {
    exitCode: ends.find(({ exitCode }) => exitCode !== 0)?.exitCode ?? 0,
    // Unknown when one of the runs ended early.
    totals: totals.includes(undefined)
      ? undefined
      : { passed: sum("passed"), failed: sum("failed"), skipped: sum("skipped") },
    notRun: [...new Set(ends.flatMap(({ notRun }) => notRun))],
    leaks: ends.flatMap(({ leaks }) => leaks),
    failures: ends.flatMap(({ failures }) => failures),
  }
}

/**
 * The lines to print at the end, and the exit code. Failed tests are repeated there, because a log
 * may show its end only. A problem outside of the tests counts as one
 * more failure, so that the last line alone is never misleading.
 * @param {TestRunEnd} end
 * @returns {{ lines: string[], exitCode: number }}
 */
export function toReport(end) {
  const problems = [
    ...end.leaks.map((leak) => `left behind by a test: ${leak}`),
    ...toBunProblems(end),
  ]
  if (end.isCi && end.notRun.length > 0)
    problems.push("a suite did not run, and with CI=true all of them have to")
  const { passed, failed, skipped } = end.totals ?? { passed: 0, failed: 0, skipped: 0 }
  const failedInAll = failed + problems.length
  const lastLine = `${passed} passed, ${failedInAll} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`
  return {
    lines: [
      ...end.notRun.map((suite) => `not run: ${suite}`),
      ...problems,
      ...toFailureLines(end.failures),
      lastLine,
    ],
    exitCode: failedInAll === 0 ? 0 : 1,
  }
}

/**
 * @param {TestRunEnd} end
 * @returns {string[]}
 */
function toBunProblems({ exitCode, totals }) {
  // Totals may be missing with exit code 0, too: a test may call process.exit(0).
  if (!totals) return [`bun ended with exit code ${exitCode} before the tests did`]
  if (totals.passed + totals.failed === 0) return ["no test ran"]
  if (exitCode !== 0 && totals.failed === 0)
    return [`bun ended with exit code ${exitCode} although no test failed`]
  return []
}
