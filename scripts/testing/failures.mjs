import { withoutColours } from "./totals.mjs"

/** @typedef {{ title: string, lines: string[] }} Failure A failed test and what was printed for it. */

const limits = { failuresMax: 20, linesMax: 60, lineCharsMax: 1_000 }
const dashes = /^-{10,}$/

/**
 * Collects failed tests from the output of `bun test` while it is written. bun prints the error of a
 * test before the line with its name.
 */
export function createFailureCollector() {
  /** @type {Failure[]} */
  const failures = []
  let rest = ""
  let file = ""
  /** @type {string[]} What was printed since the last result. */
  let recent = []
  let isOver = false
  /** @type {{ lines: string[], dashCount: number } | undefined} An error outside of tests. */
  let block

  const add = (/** @type {string} */ title, /** @type {string[]} */ lines) => {
    failures.push({ title: file === "" ? title : `${file}: ${title}`, lines: lines.slice() })
    if (failures.length > limits.failuresMax) failures.at(-1)?.lines.splice(0)
  }
  const readInBlock = (/** @type {string} */ line) => {
    if (!block) return
    if (dashes.test(line)) block.dashCount += 1
    else keep(block.lines, line)
    if (block.dashCount < 2) return
    add("error outside of a test", block.lines)
    block = undefined
  }
  const readLine = (/** @type {string} */ line) => {
    if (isOver) return
    if (block) return readInBlock(line)
    const [, mark, title = ""] = /^(\(\w+\)|[✓✗»✎]) (.*)$/.exec(line) ?? []
    if (/^# Unhandled error between tests$/.test(line)) block = { lines: [], dashCount: 0 }
    // bun repeats the names of failed tests after the last one.
    else if (/^\d+ tests? failed:$/.test(line)) isOver = true
    else if (/^\S+\.test\.\w+:$/.test(line)) file = line.slice(0, -1)
    else if (mark === undefined) {
      // Says that the test before it timed out.
      if (/^ {2}\^ /.test(line)) failures.at(-1)?.lines.push(line)
      else keep(recent, line)
      return
    } else if (mark === "(fail)" || mark === "✗") add(title, recent)
    recent = []
  }
  return {
    failures,
    /** The test file that bun runs now; "" before the first one. */
    file: () => file,
    /** @param {string} text */
    read(text) {
      const lines = (rest + text).split("\n")
      rest = lines.pop() ?? ""
      for (const line of lines) readLine(withoutColours(line))
    },
  }
}

/**
 * The failures as lines, the latter ones without their output if there are many.
 * @param {readonly Failure[]} failures
 * @returns {string[]}
 */
export function toFailureLines(failures) {
  const shown = failures.slice(0, limits.failuresMax)
  const left = failures.length - shown.length
  return [
    ...shown.flatMap(({ title, lines }) => ["", `failed: ${title}`, ...trim(lines)]),
    ...(left > 0 ? ["", `${left} more failed`] : []),
    ...(failures.length > 0 ? [""] : []),
  ]
}

/**
 * Adds a line and forgets the first one when there are too many: the error is at the end.
 * @param {string[]} lines
 * @param {string} line
 */
function keep(lines, line) {
  lines.push(line.slice(0, limits.lineCharsMax))
  if (lines.length > limits.linesMax) lines.shift()
}

/**
 * Without empty lines at both ends.
 * @param {readonly string[]} lines
 */
function trim(lines) {
  const isText = (/** @type {string} */ line) => line.trim() !== ""
  return lines.slice(Math.max(0, lines.findIndex(isText)), lines.findLastIndex(isText) + 1)
}
