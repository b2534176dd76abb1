import { expect, test } from "bun:test"
import { options } from "../config/options.ts"
import { toHelp } from "./help.ts"

test("toHelp lists each flag with its default, within the width of the terminal", () => {
  const lines = toHelp(60).split("\n")
  expect(lines).toContain("  --port (8080)")
  expect(lines.filter((line) => line.startsWith("  --"))).toHaveLength(options.length)
  const meanings = lines.filter((line) => line.startsWith("      "))
  // A word that is longer than a line is not broken.
  expect(meanings.filter((line) => line.length > 60 && line.trim().includes(" "))).toEqual([])
})
