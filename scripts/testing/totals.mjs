const ansiColours = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, "g")

/**
 * A text without the escape sequences of colours.
 * @param {string} text
 */
export function withoutColours(text) {
  return text.replace(ansiColours, "")
}

/**
 * Reads the totals at the end of what `bun test` wrote. They are taken from here and not from its
 * JUnit report, because that one leaves out test files which could not be loaded.
 * @param {string} output
 * @returns {import("./report.mjs").Totals | undefined} undefined if bun did not reach its end
 */
export function findTotals(output) {
  const lines = withoutColours(output).trimEnd().split("\n")
  const end = lines.findLastIndex((line) => /^Ran \d+ tests? across \d+ files?\./.test(line))
  if (end === -1) return undefined
  const start = lines.findLastIndex((line, index) => index < end && line.trim() === "")
  const counts = lines.slice(start + 1, end)
  return {
    passed: count(counts, "pass"),
    failed: count(counts, "fail"),
    skipped: count(counts, "skip") + count(counts, "todo"),
  }
}

/**
 * @param {string[]} lines
 * @param {string} word
 */
function count(lines, word) {
  const line = lines.find((candidate) => new RegExp(`^ *\\d+ ${word}$`).test(candidate))
  return line ? Number.parseInt(line, 10) : 0
}
