import { expect, test } from "bun:test"
import { findNotice, toNotice } from "./failures.ts"

const schedule = {
  valName: "report",
  ownerName: "ada",
  place: null,
  failureCount: 10,
  error: `Error: ${"x".repeat(1_000)}`,
  toValPage: (owner: string, name: string) => `https://hamlet.example/u/${owner}/${name}`,
}

test("findNotice tells the owner after 10 failures in a row, and pauses after 100", () => {
  const notices = Array.from({ length: 102 }, (_, count) => findNotice(count, false))
  expect(notices.flatMap((notice, count) => (notice ? [`${count} ${notice}`] : []))).toEqual([
    "10 failing",
    "100 paused",
    "101 paused",
  ])
  expect(findNotice(150, true)).toBeUndefined()
})

test("toNotice names the val, its page and the start of its last error", () => {
  const { subject, text } = toNotice("failing", schedule)
  expect(subject).toBe("The schedule of ada/report keeps failing")
  expect(text).toContain("The last 10 scheduled runs of ada/report failed.")
  expect(text).toContain("Error: xxx")
  expect(text).toContain("It will be paused after 100 failures in a row")
  expect(text).toEndWith("https://hamlet.example/u/ada/report\n")
  expect(text.length).toBeLessThan(800)
  expect(toNotice("paused", { ...schedule, error: null }).text).toContain("is paused now")
  const place = { path: "jobs/clean.ts", branch: "dev" }
  expect(toNotice("failing", { ...schedule, place }).subject).toBe(
    "The schedule of jobs/clean.ts on branch dev of ada/report keeps failing",
  )
})
