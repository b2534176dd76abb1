import { expect, test } from "bun:test"
import { createFrameReader, toFrame } from "./frames.ts"

test("createFrameReader returns frames when their last bytes arrive, however they were split", () => {
  const frames = [
    toFrame("{}"),
    toFrame(`"${"é".repeat(3_000)}"`),
    toFrame("d", Buffer.from("[]"), "ü"),
    toFrame(""),
    toFrame(),
  ]
  expect(frames[2]?.subarray(4).toString()).toBe("d[]ü")
  const expected = frames.map((frame) => frame.subarray(4).toString())
  const all = Buffer.concat(frames)
  for (const size of [1, 2, 3, 4, 5, 7, 1_000, 6_010, 100_000]) {
    const readFrames = createFrameReader()
    const contents: string[] = []
    for (let at = 0; at < all.length; at += size) {
      const chunk = Buffer.from(all.subarray(at, at + size))
      for (const content of readFrames(chunk)) contents.push(content.toString())
      // As a worker process does, which reads every chunk into the same buffer.
      chunk.fill(0)
    }
    expect(contents).toEqual(expected)
  }
})

test("createFrameReader throws on a frame that is too long as soon as it has the head", () => {
  expect(() => createFrameReader(100)(toFrame("x".repeat(101)).subarray(0, 10))).toThrow(
    "Cannot read a frame of 105 bytes",
  )
  expect(createFrameReader(100)(toFrame("x".repeat(100)))[0]?.length).toBe(100)
})
