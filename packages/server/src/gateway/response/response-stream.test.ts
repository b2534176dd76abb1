import { afterAll, describe, expect, test } from "bun:test"
import { Watchdog } from "@hamlet/kit"
import { ResponseStream } from "./response-stream.ts"

const deadlines = new Watchdog(1_000_000)
afterAll(() => deadlines.stop())

function start(source: UnderlyingDefaultSource<Uint8Array>) {
  const events: string[] = []
  const end = {
    ended: () => events.push("ended"),
    broke: (error: unknown) => events.push(`broke: ${error}`),
    left: () => events.push("left"),
    expired: () => events.push("expired"),
  }
  const response = new ResponseStream(
    new ReadableStream(source, { highWaterMark: 0 }),
    end as never,
    deadlines,
    {
      streamMsMax: 1000,
      stalledMsMax: 100,
    },
  )
  return { response, events }
}

const bytes = new Uint8Array([1])
const later = (ms: number) => performance.now() + ms

describe("ResponseStream", () => {
  test("reports its end once, and removes its deadline", async () => {
    const before = deadlines.size
    const parts = [bytes, bytes]
    const { response, events } = start({
      pull(controller) {
        const part = parts.pop()
        if (part) controller.enqueue(part)
        else controller.close()
      },
    })
    expect(deadlines.size).toBe(before + 1)
    expect((await new Response(response.stream).bytes()).length).toBe(2)
    expect(events).toEqual(["ended"])
    expect(deadlines.size).toBe(before)
    expect(response.check(later(5000))).toBe(true)
    expect(events).toEqual(["ended"])
  })

  test("reads from the val only what the client asks for", async () => {
    let pulled = 0
    const { response } = start({
      pull(controller) {
        pulled++
        controller.enqueue(bytes)
      },
    })
    const reader = response.stream.getReader()
    expect(pulled).toBe(0)
    await reader.read()
    expect(pulled).toBe(1)
    await reader.cancel()
  })

  test("fails when the val's side fails", async () => {
    const { response, events } = start({ pull: (controller) => controller.error("oops") })
    const reading = response.stream.getReader().read()
    expect(await reading.catch((error: unknown) => error)).toBeUndefined()
    expect(events).toEqual(["broke: oops"])
  })

  test("cancels the val's side when the client disconnects", async () => {
    const gone = Promise.withResolvers<void>()
    const { response, events } = start({
      pull: (controller) => controller.enqueue(bytes),
      cancel: () => gone.resolve(),
    })
    const reader = response.stream.getReader()
    await reader.read()
    await reader.cancel()
    await gone.promise
    expect(events).toEqual(["left"])
  })

  test("ends a response that takes too long, and cancels the val's side", async () => {
    const gone = Promise.withResolvers<void>()
    const beganMs = performance.now()
    const { response, events } = start({ cancel: () => gone.resolve() })
    const reading = response.stream.getReader().read()
    expect(response.check(beganMs + 900)).toBe(false)
    expect(response.check(later(1100))).toBe(true)
    expect(await reading.catch(() => "broken")).toBe("broken")
    await gone.promise
    expect(events).toEqual(["expired"])
  })

  test("ends when the client reads nothing, not when the val sends nothing", async () => {
    const beganMs = performance.now()
    const quiet = start({})
    const reading = quiet.response.stream.getReader().read()
    expect(quiet.response.check(beganMs + 500)).toBe(false)
    const unread = start({ pull: (controller) => controller.enqueue(bytes) })
    await unread.response.stream.getReader().read()
    expect(unread.response.check(later(500))).toBe(true)
    expect(unread.events).toEqual(["left"])
    quiet.response.check(later(5000))
    await reading.catch(() => {})
  })
})
