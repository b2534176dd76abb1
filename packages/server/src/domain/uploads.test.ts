import { expect, test } from "bun:test"
import { createUploads } from "./uploads.ts"

test("createUploads counts for each user what is on its way, and takes no more than that", () => {
  const uploads = createUploads(10)
  expect([uploads.add("ada", 6), uploads.add("ada", 4), uploads.add("ada", 1)]).toEqual([true, true, false])
  expect(uploads.add("bob", 10)).toBe(true)
  uploads.remove("ada", 4)
  expect([uploads.add("ada", 5), uploads.add("ada", 4)]).toEqual([false, true])
  uploads.remove("ada", 10)
  uploads.remove("ada", 10)
  expect([uploads.add("ada", 11), uploads.add("ada", 10)]).toEqual([false, true])
})
