import { describe, expect, test } from "bun:test"
import { UploadPlaces } from "./upload-places.ts"

const limits = { uploadsPerValMax: 3, uploadsPerClientMax: 2 }
const tooMany = "too many large bodies are on their way to the val"

describe("UploadPlaces", () => {
  test("gives one client its part, another one the rest, and each val its own", () => {
    const places = new UploadPlaces(limits)
    places.take("hello", "192.0.2.1")
    places.take("hello", "192.0.2.1")
    expect(() => places.take("hello", "192.0.2.1")).toThrow(tooMany)
    places.take("hello", "192.0.2.2")
    expect(() => places.take("hello", "192.0.2.3")).toThrow(tooMany)
    places.take("other", "192.0.2.1")
  })

  test("takes a place back once, and forgets what it no longer counts", () => {
    const places = new UploadPlaces(limits)
    const [first, second] = [places.take("hello", "192.0.2.1"), places.take("hello", "192.0.2.1")]
    first()
    first()
    const third = places.take("hello", "192.0.2.1")
    expect(() => places.take("hello", "192.0.2.1")).toThrow(tooMany)
    second()
    third()
    expect(places.size).toBe(0)
  })
})
