import { afterAll, describe, expect, test } from "bun:test"
import { Deadlines } from "../deadlines.ts"
import { ResponseStream } from "./response-stream.ts"

const deadlines = new Deadlines(1_000_000)
afterAll(() => deadlines.stop())

function start(source: UnderlyingDefaultSource<Uint8Array>) {
  const heard: string[] = []
  const end = {
    ended: () => heard.push("ended"),
    broke: (error: unknown) => heard.push(`broke: ${error}`),
    left: () => heard.push("left"),
    expired: () => heard.push("expired"),
  }
  const answer = new ResponseStream(
    new ReadableStream(source, { highWaterMark: 0 }),
    end as never,
    deadlines,
    {
      streamMsMax: 1000,
      stalledMsMax: 100,
    },
  )
  return { answer, heard }
}

const bytes = new Uint8Array([1])
const later = (ms: number) => performance.now() + ms

describe("AnswerStream", () => {
  test("tells of the end once, and is overseen no longer", async () => {
    const before = deadlines.size
    const parts = [bytes, bytes]
    const { answer, heard } = start({
      pull(controller) {
        const part = parts.pop()
        if (part) controller.enqueue(part)
        else controller.close()
      },
    })
    expect(deadlines.size).toBe(before + 1)
    expect((await new Response(answer.stream).bytes()).length).toBe(2)
    expect(heard).toEqual(["ended"])
    expect(deadlines.size).toBe(before)
    expect(answer.check(later(5000))).toBe(true)
    expect(heard).toEqual(["ended"])
  })

  test("takes no more from the val than the client asks for", async () => {
    let pulled = 0
    const { answer } = start({
      pull(controller) {
        pulled++
        controller.enqueue(bytes)
      },
    })
    const reader = answer.stream.getReader()
    expect(pulled).toBe(0)
    await reader.read()
    expect(pulled).toBe(1)
    await reader.cancel()
  })

  test("breaks when the val does", async () => {
    const { answer, heard } = start({ pull: (controller) => controller.error("oops") })
    const reading = answer.stream.getReader().read()
    expect(await reading.catch((error: unknown) => error)).toBeUndefined()
    expect(heard).toEqual(["broke: oops"])
  })

  test("tells the val when the client has gone", async () => {
    const gone = Promise.withResolvers<void>()
    const { answer, heard } = start({
      pull: (controller) => controller.enqueue(bytes),
      cancel: () => gone.resolve(),
    })
    const reader = answer.stream.getReader()
    await reader.read()
    await reader.cancel()
    await gone.promise
    expect(heard).toEqual(["left"])
  })

  test("ends what lasts too long, and tells the val", async () => {
    const gone = Promise.withResolvers<void>()
    const { answer, heard } = start({ cancel: () => gone.resolve() })
    const reading = answer.stream.getReader().read()
    expect(answer.check(later(900))).toBe(false)
    expect(answer.check(later(1100))).toBe(true)
    expect(await reading.catch(() => "broken")).toBe("broken")
    await gone.promise
    expect(heard).toEqual(["expired"])
  })

  test("ends for a client that reads nothing, not for a val that says nothing", async () => {
    const quiet = start({})
    const reading = quiet.answer.stream.getReader().read()
    expect(quiet.answer.check(later(500))).toBe(false)
    const unread = start({ pull: (controller) => controller.enqueue(bytes) })
    await unread.answer.stream.getReader().read()
    expect(unread.answer.check(later(500))).toBe(true)
    expect(unread.heard).toEqual(["left"])
    quiet.answer.check(later(5000))
    await reading.catch(() => {})
  })
})
