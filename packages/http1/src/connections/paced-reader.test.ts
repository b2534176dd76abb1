import { describe, expect, test } from "bun:test"
import { waitUntil } from "@hamlet/kit/testing"
import { http1Limits } from "../http1-limits.ts"
import { ChunkDecoder } from "../messages/chunk-decoder.ts"
import { PacedReader } from "./paced-reader.ts"

const chunks = 100_000

/** A reader of chunks that counts its steps, and what happens to the socket. */
function openReader(limits = http1Limits) {
  const decoder = new ChunkDecoder(limits)
  const seen = { text: "", steps: 0, mostFraming: 0, calls: [] as string[] }
  const source = { pause: () => seen.calls.push("pause"), resume: () => seen.calls.push("resume") }
  const reader = new PacedReader(source, limits, (bytes) => {
    const { content, read, framing } = decoder.decode(bytes, 0)
    seen.steps++
    seen.text += Buffer.from(content).toString()
    seen.mostFraming = Math.max(seen.mostFraming, framing)
    return { rest: read < bytes.length ? bytes.subarray(read) : undefined, framing }
  })
  return { reader, seen, decoder }
}

describe("PacedReader", () => {
  test("reads small chunks in steps, and calls back when all are read", async () => {
    const { reader, seen, decoder } = openReader()
    reader.push(Buffer.from("1\r\nx\r\n".repeat(chunks)))
    reader.push(Buffer.from("0\r\n\r\n"))
    const read = Promise.withResolvers<void>()
    reader.whenRead(read.resolve)
    await read.promise
    expect([seen.text.length, decoder.isOver]).toEqual([chunks, true])
    expect(seen.mostFraming).toBeLessThanOrEqual(http1Limits.framingPerReadMax)
    expect(seen.steps).toBeGreaterThan((chunks * 5) / http1Limits.framingPerReadMax)
  })

  test("pauses a socket with too much framing, and resumes it", async () => {
    const { reader, seen } = openReader({ ...http1Limits, framingPerSecondMax: 2_000 })
    const small = Buffer.from("1\r\nx\r\n".repeat(210))
    for (let count = 0; count < 3; count++) reader.push(Buffer.from(small))
    expect([seen.calls, reader.isWaiting]).toEqual([["pause"], true])
    reader.push(Buffer.from("1\r\ny\r\n"))
    expect(seen.text.endsWith("x")).toBe(true)
    await waitUntil(() => seen.calls.includes("resume"))
    expect(seen.text.endsWith("xy")).toBe(true)
  })

  test("reads large chunks at once", () => {
    const { reader, seen } = openReader()
    for (let count = 0; count < 20; count++)
      reader.push(Buffer.from(`10000\r\n${"x".repeat(65_536)}\r\n`))
    expect([seen.text.length, seen.steps, seen.calls]).toEqual([20 * 65_536, 20, []])
  })

  test("drops what waits when it is stopped", async () => {
    const { reader, seen } = openReader({ ...http1Limits, framingPerSecondMax: 10 })
    for (let count = 0; count < 2; count++) reader.push(Buffer.from("1\r\nx\r\n".repeat(210)))
    reader.push(Buffer.from("1\r\ny\r\n"))
    reader.stop()
    reader.whenRead(() => seen.calls.push("read"))
    await new Promise((resolve) => setImmediate(resolve))
    expect([seen.text.includes("y"), seen.calls]).toEqual([false, ["pause"]])
  })
})
