import { describe, expect, test } from "bun:test"
import { Outlet } from "./outlet.ts"

/** A socket that takes as much as it is told to. */
class Sink {
  readonly writes: string[] = []
  room = Number.POSITIVE_INFINITY
  rooms = 0
  readonly outlet = new Outlet(() => void this.rooms++)

  constructor() {
    this.outlet.open(this)
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

describe("Outlet", () => {
  test("writes what is small together, at the end of the turn", async () => {
    const sink = new Sink()
    sink.outlet.add("head ")
    sink.outlet.add(Buffer.from("body"))
    expect(sink.writes).toEqual([])
    await turn()
    expect(sink.writes).toEqual(["head body"])
  })

  test("writes what is large at once, in order, and without copying it", () => {
    const sink = new Sink()
    sink.outlet.add("a")
    sink.outlet.add(large("b"))
    expect(sink.writes.map(({ length }) => length)).toEqual([1, 40_000])
  })

  test("keeps what is not taken, and tells when there is room", async () => {
    const sink = new Sink()
    sink.room = 3
    sink.outlet.add("abc")
    sink.outlet.add("def")
    await turn()
    expect([sink.text, sink.outlet.isFull]).toEqual(["abc", true])
    sink.outlet.add("ghi")
    // The scratch in which they were put together is used by others in the meantime.
    const other = new Sink()
    other.outlet.add("xxx")
    other.outlet.add("yyy")
    await turn()
    sink.room = 4
    sink.outlet.drain()
    expect([sink.text, sink.outlet.isFull, sink.rooms]).toEqual(["abcdefg", true, 0])
    sink.room = 100
    sink.outlet.drain()
    expect([sink.text, sink.outlet.isFull, sink.rooms]).toEqual(["abcdefghi", false, 1])
    sink.outlet.drain()
    expect(sink.rooms).toBe(1)
  })

  test("calls back when all is written, at once or later", () => {
    const sink = new Sink()
    let ends = 0
    const end = () => void ends++
    sink.outlet.finish(end)
    expect(ends).toBe(1)
    sink.room = 1
    sink.outlet.add("ab")
    sink.outlet.finish(end)
    expect(ends).toBe(1)
    sink.room = 10
    sink.outlet.drain()
    expect([ends, sink.text]).toEqual([2, "ab"])
  })

  test("writes nothing once it is closed, and keeps nothing", async () => {
    const sink = new Sink()
    sink.outlet.add("a")
    sink.outlet.close()
    sink.outlet.add(large("b"))
    await turn()
    sink.outlet.drain()
    expect(sink.writes).toEqual([])
  })

  test("treats a socket that is gone as one that takes nothing", () => {
    const sink = new Sink()
    sink.write = () => -1
    sink.outlet.add(large("b"))
    expect(sink.outlet.isFull).toBe(true)
  })
})
