import { describe, expect, test } from "bun:test"
import { ByteQueue } from "./byte-queue.ts"

class Source {
  readonly calls: string[] = []
  readonly queue = new ByteQueue(this, 4)

  pause(): void {
    this.calls.push("pause")
  }

  resume(): void {
    this.calls.push("resume")
  }

  push(text: string): void {
    this.queue.push(Buffer.from(text))
  }

  async read(): Promise<string | undefined> {
    const part = await this.queue.next()
    return part && Buffer.from(part).toString()
  }
}

describe("ByteQueue", () => {
  test("gives parts in order, to a reader that waits and to one that comes later", async () => {
    const source = new Source()
    const first = source.read()
    source.push("a")
    source.push("b")
    source.push("c")
    source.queue.end()
    expect([await first, await source.read(), await source.read()]).toEqual(["a", "bc", undefined])
  })

  test("joins small parts, and leaves large ones apart", async () => {
    const source = new Source()
    const large = "b".repeat(16_384)
    for (const part of ["a", "a", large, large, "c"]) source.push(part)
    source.queue.end()
    expect([
      await source.read(),
      await source.read(),
      await source.read(),
      await source.read(),
    ]).toEqual([`aa${large}`, large, "c", undefined])
  })

  test("pauses its source when too much is buffered, and resumes it when all is read", async () => {
    const source = new Source()
    source.push("abcd")
    expect(source.calls).toEqual([])
    source.push("e")
    source.push("f")
    expect([source.calls, source.queue.bufferedBytes]).toEqual([["pause"], 6])
    await source.read()
    expect([source.calls, source.queue.bufferedBytes]).toEqual([["pause", "resume"], 0])
  })

  test("does not resume a source after the end", async () => {
    const source = new Source()
    source.push("abcdef")
    source.queue.end()
    await source.read()
    expect(source.calls).toEqual(["pause"])
  })

  test("fails after what is buffered, and at once for a reader that waits", async () => {
    const source = new Source()
    source.push("a")
    source.queue.fail(new Error("broken"))
    expect(await source.read()).toBe("a")
    expect(source.read()).rejects.toThrow("broken")

    const waiting = new Source()
    const reading = waiting.read()
    waiting.queue.fail(new Error("broken"))
    expect(reading).rejects.toThrow("broken")
  })

  test("ignores everything after its end", async () => {
    const source = new Source()
    source.queue.end()
    source.push("a")
    source.queue.fail(new Error("broken"))
    expect([await source.read(), source.queue.hasEnded]).toEqual([undefined, true])
  })

  test("takeWhole gives all of a complete body, and nothing of another", () => {
    const source = new Source()
    source.push("ab")
    expect(source.queue.takeWhole()).toBeUndefined()
    source.push("cd")
    source.queue.end()
    expect(Buffer.from(source.queue.takeWhole() ?? []).toString()).toBe("abcd")
    const failed = new Source()
    failed.queue.fail(new Error("broken"))
    expect(failed.queue.takeWhole()).toBeUndefined()
  })
})
