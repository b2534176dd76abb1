import { describe, expect, test } from "bun:test"
import { UploadLimiter } from "./upload-limiter.ts"

const limits = { uploadsPerValMax: 3, uploadsPerClientMax: 2 }
const tooMany = "too many uploads to the val are in progress"

describe("UploadLimiter", () => {
  test("limits the uploads of one client and of all clients, for each val", () => {
    const places = new UploadLimiter(limits)
    places.acquire("hello", "192.0.2.1")
    places.acquire("hello", "192.0.2.1")
    expect(() => places.acquire("hello", "192.0.2.1")).toThrow(tooMany)
    places.acquire("hello", "192.0.2.2")
    expect(() => places.acquire("hello", "192.0.2.3")).toThrow(tooMany)
    places.acquire("other", "192.0.2.1")
  })

  test("releases an upload once, and drops counters that are zero", () => {
    const places = new UploadLimiter(limits)
    const [first, second] = [
      places.acquire("hello", "192.0.2.1"),
      places.acquire("hello", "192.0.2.1"),
    ]
    first()
    first()
    const third = places.acquire("hello", "192.0.2.1")
    expect(() => places.acquire("hello", "192.0.2.1")).toThrow(tooMany)
    second()
    third()
    expect(places.size).toBe(0)
  })
})
