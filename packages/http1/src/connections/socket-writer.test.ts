import { describe, expect, test } from "bun:test"
import { SocketWriter } from "./socket-writer.ts"

/** A socket that takes as much as it is told to. */
class Sink {
  readonly writes: string[] = []
  room = Number.POSITIVE_INFINITY
  drains = 0
  readonly writer = new SocketWriter()

  constructor() {
    this.writer.open(this)
  }

  write(bytes: Uint8Array, from: number, length: number): number {
    const count = Math.min(this.room, length)
    this.room -= count
    if (count > 0) this.writes.push(Buffer.from(bytes.subarray(from, from + count)).toString())
    return count
  }

  get text(): string {
    return this.writes.join("")
  }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
const large = (char: string) => Buffer.alloc(40_000, char)

describe("SocketWriter", () => {
  test("writes what is small together, at the end of the turn", async () => {
    const sink = new Sink()
    sink.writer.add("head ")
    sink.writer.add(Buffer.from("body"))
    expect(sink.writes).toEqual([])
    await turn()
    expect(sink.writes).toEqual(["head body"])
  })

  test("writes what is large at once, in order, and without copying it", () => {
    const sink = new Sink()
    sink.writer.add("a")
    sink.writer.add(large("b"))
    expect(sink.writes.map(({ length }) => length)).toEqual([1, 40_000])
  })

  test("keeps what is added before the socket is open, and then writes it at once", async () => {
    const sink = new Sink()
    const writer = new SocketWriter()
    writer.add("head ")
    writer.add("body")
    void writer.drained().then(() => sink.drains++)
    await turn()
    expect([sink.writes, writer.isFull, writer.isEmpty, sink.drains]).toEqual([[], true, false, 0])
    writer.open(sink)
    expect([sink.writes, writer.isFull, writer.isEmpty]).toEqual([["head body"], false, true])
    await turn()
    expect(sink.drains).toBe(1)
  })

  test("frames chunks, and drops an empty one, which would be the last", async () => {
    const sink = new Sink()
    sink.writer.addChunk(Buffer.alloc(26, "a"))
    sink.writer.addChunk(Buffer.alloc(0))
    sink.writer.addLastChunk()
    await turn()
    expect(sink.writes).toEqual([`1a\r\n${"a".repeat(26)}\r\n0\r\n\r\n`])
  })

  test("keeps what is not taken, and tells when there is room", async () => {
    const sink = new Sink()
    sink.room = 3
    sink.writer.add("abc")
    sink.writer.add("def")
    await turn()
    expect([sink.text, sink.writer.isFull]).toEqual(["abc", true])
    sink.writer.add("ghi")
    void sink.writer.drained().then(() => sink.drains++)
    // The scratch in which they were put together is used by others in the meantime.
    const other = new Sink()
    other.writer.add("xxx")
    other.writer.add("yyy")
    await turn()
    sink.room = 4
    sink.writer.drain()
    await turn()
    expect([sink.text, sink.writer.isFull, sink.drains]).toEqual(["abcdefg", true, 0])
    sink.room = 100
    sink.writer.drain()
    await turn()
    expect([sink.text, sink.writer.isFull, sink.drains]).toEqual(["abcdefghi", false, 1])
    await sink.writer.drained()
  })

  test("calls back when all is written, at once or later", () => {
    const sink = new Sink()
    let ends = 0
    const end = () => void ends++
    sink.writer.finish(end)
    expect(ends).toBe(1)
    sink.room = 1
    sink.writer.add("ab")
    sink.writer.finish(end)
    expect(ends).toBe(1)
    sink.room = 10
    sink.writer.drain()
    expect([ends, sink.text]).toEqual([2, "ab"])
  })

  test("writes nothing once it is closed, and keeps nothing", async () => {
    const sink = new Sink()
    sink.writer.add("a")
    sink.writer.close()
    sink.writer.add(large("b"))
    await turn()
    sink.writer.drain()
    expect(sink.writes).toEqual([])
  })

  test("treats a socket that is gone as one that takes nothing", () => {
    const sink = new Sink()
    sink.write = () => -1
    sink.writer.add(large("b"))
    expect(sink.writer.isFull).toBe(true)
  })
})
