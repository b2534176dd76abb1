import { expect, test } from "bun:test"
import { toTimeAhead } from "./file-badge.tsx"

test("toTimeAhead is as exact as a row needs", () => {
  const now = Date.parse("2026-03-04T12:00:00Z")
  const after = (hours: number) => toTimeAhead(new Date(now + hours * 3_600_000).toISOString(), now)
  expect(after(3)).toMatch(/^\d\d:\d\d$/)
  expect(after(3 * 24)).toMatch(/^[A-Z][a-z]{2}$/)
  expect(after(40 * 24)).toMatch(/^[A-Z][a-z]{2} \d+$/)
})
