import { expect, test } from "bun:test"
import { createFrameReader, readyFrame, splitMessage, toMessage } from "./frames.ts"

const toFrame = (head: string, ...bytes: Buffer[]) => Buffer.concat(toMessage(head, bytes))

test("createFrameReader returns frames when their last bytes arrive, however they were split", () => {
  const frames = [
    toFrame("{}"),
    toFrame(`"${"é".repeat(3_000)}"`),
    toFrame("d", Buffer.from("[]"), Buffer.from("ü")),
    toFrame(""),
    readyFrame,
  ]
  const expected = frames.map((frame) => frame.subarray(4).toString())
  const all = Buffer.concat(frames)
  for (const size of [1, 2, 3, 4, 5, 7, 1_000, 6_010, 100_000]) {
    const readFrames = createFrameReader()
    const contents: string[] = []
    for (let at = 0; at < all.length; at += size) {
      const chunk = Buffer.from(all.subarray(at, at + size))
      for (const content of readFrames(chunk)) contents.push(content.toString())
      // A worker process reads every chunk into the same buffer.
      chunk.fill(0)
    }
    expect(contents).toEqual(expected)
  }
})

test("createFrameReader throws on a frame that is too long as soon as it has the head", () => {
  expect(() => createFrameReader(100)(toFrame("x".repeat(101)).subarray(0, 10))).toThrow(
    "Cannot read a frame of 109 bytes",
  )
  expect(createFrameReader(100)(toFrame("x".repeat(96)))[0]?.length).toBe(100)
})

test("splitMessage returns the head and the bytes of toMessage", () => {
  const frame = toFrame(`{"a":"ü"}`, Buffer.from("ab"), Buffer.from("é"))
  const { head, bytes } = splitMessage(frame.subarray(4))
  expect([head, bytes.toString()]).toEqual([`{"a":"ü"}`, "abé"])
  expect(() => splitMessage(Buffer.alloc(3))).toThrow(RangeError)
})
