import { expect, test } from "bun:test"
import { createFrameReader, doneMark, toAnswerFrame, toRequestFrame } from "./database-frames.ts"

test("createFrameReader gives a frame when the last of its bytes has come, however it was cut", () => {
  const frames = [
    toRequestFrame("{}"),
    toRequestFrame(`"${"é".repeat(3_000)}"`),
    toAnswerFrame(doneMark, Buffer.from("[]")),
    toRequestFrame(""),
  ]
  for (const size of [1, 2, 3, 4, 5, 1_000, 100_000]) {
    const readFrame = createFrameReader()
    for (const frame of frames) {
      const found: string[] = []
      for (let at = 0; at < frame.length; at += size) {
        // The buffer is used again for the next chunk, as that of a process is.
        const chunk = Buffer.from(frame.subarray(at, at + size))
        const content = readFrame(chunk)?.toString()
        if (content !== undefined) found.push(content)
        chunk.fill(0)
      }
      expect(found).toEqual([frame.subarray(4).toString()])
    }
  }
})

test("createFrameReader refuses a frame that is too long before it has come", () => {
  expect(() => createFrameReader(100)(toRequestFrame("x".repeat(101)).subarray(0, 10))).toThrow(
    "Cannot read a frame of 105 bytes",
  )
  expect(createFrameReader(100)(toRequestFrame("x".repeat(100)))?.length).toBe(100)
})
