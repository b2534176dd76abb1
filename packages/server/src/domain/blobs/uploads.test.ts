import { expect, test } from "bun:test"
import { createUploadCounter } from "./uploads.ts"

test("createUploadCounter counts and limits the bytes in flight of each user", () => {
  const uploads = createUploadCounter()
  expect([uploads.add("ada", 6, 10), uploads.add("ada", 4, 10), uploads.add("ada", 1, 10)]).toEqual(
    [true, true, false],
  )
  expect(uploads.add("bob", 10, 10)).toBe(true)
  uploads.remove("ada", 4)
  expect([uploads.add("ada", 5, 10), uploads.add("ada", 4, 10)]).toEqual([false, true])
  uploads.remove("ada", 10)
  uploads.remove("ada", 10)
  expect([uploads.add("ada", 11, 10), uploads.add("ada", 10, 10)]).toEqual([false, true])
})
