import { afterEach, describe, expect, jest, test } from "bun:test"
import type { FollowEvent } from "../../domain/runs/follow/follow-run.ts"
import { eventStream, toRunEventText } from "./event-stream.ts"

const line = { at: "2026-01-01T00:00:00.000Z", level: "log", message: 'two\nlines "é"' } as const

afterEach(() => {
  jest.useRealTimers()
})

async function* steps(
  ...all: readonly (readonly FollowEvent[])[]
): AsyncGenerator<readonly FollowEvent[]> {
  yield* all
}

describe("eventStream", () => {
  test("sends an event for each line, with its index as id, and one for the end", async () => {
    const events: FollowEvent[] = [
      { kind: "log", index: 7, line },
      { kind: "end", status: "failed", logsTruncated: true },
    ]
    const { status, headers, stream } = eventStream(steps(events), toRunEventText, () => {})
    expect([status, headers["content-type"]]).toEqual([200, "text/event-stream; charset=utf-8"])
    expect(await new Response(stream).text()).toBe(
      `id: 7\nevent: log\ndata: ${JSON.stringify(line)}\n\nevent: end\ndata: {"status":"failed","logsTruncated":true}\n\n`,
    )
  })

  test("sends heartbeats while there are no events", async () => {
    jest.useFakeTimers()
    const gate = Promise.withResolvers<void>()
    async function* slow(): AsyncGenerator<readonly FollowEvent[]> {
      await gate.promise
      yield [{ kind: "log", index: 0, line }]
    }
    const reader = eventStream(slow(), toRunEventText, () => {}).stream?.getReader()
    const read = async () => new TextDecoder().decode((await reader?.read())?.value)
    for (let beat = 0; beat < 2; beat++) {
      const next = read()
      await new Promise((resolve) => setImmediate(resolve))
      jest.advanceTimersByTime(15_000)
      expect(await next).toBe(": still here\n\n")
    }
    const next = read()
    gate.resolve()
    expect(await next).toStartWith("id: 0\n")
    expect((await reader?.read())?.done).toBe(true)
    expect(jest.getTimerCount()).toBe(0)
  })

  test("requests a batch only when the client has read the last one", async () => {
    let requested = 0
    async function* endless(): AsyncGenerator<readonly FollowEvent[]> {
      for (;;) {
        requested += 1
        yield [{ kind: "log", index: requested, line }]
      }
    }
    const reader = eventStream(endless(), toRunEventText, () => {}).stream?.getReader()
    await reader?.read()
    await new Promise((resolve) => setImmediate(resolve))
    expect(requested).toBeLessThan(4)
    await reader?.cancel()
  })

  test("ends the batches when the client disconnects, and ends when they throw", async () => {
    const events: string[] = []
    async function* watched(): AsyncGenerator<readonly FollowEvent[]> {
      try {
        for (;;) yield [{ kind: "log", index: 0, line }]
      } finally {
        events.push("ended")
      }
    }
    const reader = eventStream(watched(), toRunEventText, () =>
      events.push("cancelled"),
    ).stream?.getReader()
    await reader?.read()
    await reader?.cancel()
    expect(events).toEqual(["cancelled", "ended"])
    async function* failing(): AsyncGenerator<readonly FollowEvent[]> {
      yield [{ kind: "log", index: 0, line }]
      throw new Error("the database is away")
    }
    expect(
      await new Response(eventStream(failing(), toRunEventText, () => {}).stream).text(),
    ).toEndWith("\n\n")
  })
})
