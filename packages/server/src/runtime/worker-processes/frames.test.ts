import { expect, test } from "bun:test"
import { createFrameReader, toFrame } from "./frames.ts"

test("createFrameReader returns a frame when its last byte arrives, however it was split", () => {
  const frames = [
    toFrame("{}"),
    toFrame(`"${"é".repeat(3_000)}"`),
    toFrame("d", Buffer.from("[]"), "ü"),
    toFrame(""),
    toFrame(),
  ]
  expect(frames[2]?.subarray(4).toString()).toBe("d[]ü")
  for (const size of [1, 2, 3, 4, 5, 1_000, 100_000]) {
    const readFrame = createFrameReader()
    for (const frame of frames) {
      const contents: string[] = []
      for (let at = 0; at < frame.length; at += size) {
        const chunk = Buffer.from(frame.subarray(at, at + size))
        const content = readFrame(chunk)?.toString()
        if (content !== undefined) contents.push(content)
        // As a worker process does, which reads every chunk into the same buffer.
        chunk.fill(0)
      }
      expect(contents).toEqual([frame.subarray(4).toString()])
    }
  }
})

test("createFrameReader throws on a frame that is too long as soon as it has the head", () => {
  expect(() => createFrameReader(100)(toFrame("x".repeat(101)).subarray(0, 10))).toThrow(
    "Cannot read a frame of 105 bytes",
  )
  expect(createFrameReader(100)(toFrame("x".repeat(100)))?.length).toBe(100)
})
