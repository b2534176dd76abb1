import { afterEach, describe, expect, test } from "bun:test"
import { Deadlines } from "../deadlines.ts"
import { readBody } from "./request-body.ts"

const limits = { requestBytesMax: 100, keptBodyBytesMax: 10, bodyMsMax: 50, bodyStalledMsMax: 50 }

let deadlines = new Deadlines(5)
let places = 0
afterEach(() => {
  deadlines.stop()
  deadlines = new Deadlines(5)
  places = 0
})

const deps = () => ({
  limits,
  deadlines,
  takePlace: () => {
    places++
    let isTaken = true
    return () => {
      if (isTaken) places--
      isTaken = false
    }
  },
})

/** A request whose body comes in parts; it never ends unless it is told so. */
function toRequest(parts: readonly string[], ends: boolean): Request {
  const left = [...parts]
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const part = left.shift()
      if (part !== undefined) controller.enqueue(new TextEncoder().encode(part))
      else if (ends) controller.close()
      else await new Promise(() => {})
    },
  })
  return new Request("http://localhost/", { method: "POST", body })
}

const chunked = { "transfer-encoding": "chunked" }

async function codeOf(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => "read",
    ({ code }) => code,
  )
}

describe("readBody", () => {
  test("reads a small body before there is a run, without a place", async () => {
    const body = await readBody(toRequest(["hello"], true), { "content-length": "5" }, deps())
    expect(body).toMatchObject({ kept: btoa("hello"), failure: undefined })
    expect([places, deadlines.size]).toEqual([0, 0])
  })

  test("gives up a small body that does not come", async () => {
    expect(
      await codeOf(
        Promise.resolve(readBody(toRequest(["he"], false), { "content-length": "5" }, deps())),
      ),
    ).toBe("body_timed_out")
    expect(deadlines.size).toBe(0)
  })

  for (const known of [chunked, { "content-length": "50" }]) {
    const kind = Object.keys(known)[0]
    test(`gives a place back when a larger body with ${kind} is there`, async () => {
      const body = await readBody(toRequest(["a".repeat(20), "b".repeat(30)], true), known, deps())
      expect(places).toBe(1)
      expect(await new Response(body.content as ReadableStream<Uint8Array>).text()).toBe(
        "a".repeat(20) + "b".repeat(30),
      )
      expect([places, deadlines.size, body.failure]).toEqual([0, 0, undefined])
    })

    test(`breaks a body with ${kind} of which nothing more comes`, async () => {
      const body = await readBody(toRequest(["a".repeat(20)], false), known, deps())
      const reading = new Response(body.content as ReadableStream<Uint8Array>).text()
      expect(await codeOf(reading)).toBe("body_timed_out")
      expect(body.failure?.message).toBe(
        "Cannot take the body: nothing of it came for 0.05 seconds",
      )
      expect([places, deadlines.size]).toEqual([0, 0])
    })
  }

  test("lets a body wait that the val does not read", async () => {
    const body = await readBody(toRequest(["a", "b"], true), chunked, deps())
    const laterMs = performance.now() + limits.bodyStalledMsMax * 3
    await new Promise<void>((resolve) => {
      deadlines.add({
        check(nowMs) {
          if (nowMs > laterMs) resolve()
          return nowMs > laterMs
        },
      })
    })
    expect(await new Response(body.content as ReadableStream<Uint8Array>).text()).toBe("ab")
  })

  test("breaks a body that is larger than it may be", async () => {
    const body = await readBody(toRequest(["a".repeat(60), "b".repeat(60)], false), chunked, deps())
    expect(await codeOf(new Response(body.content as ReadableStream<Uint8Array>).text())).toBe(
      "body_too_large",
    )
    expect([places, body.failure?.code]).toEqual([0, "body_too_large"])
  })

  test("gives the place back when the run is over first", async () => {
    const body = await readBody(toRequest(["a"], false), chunked, deps())
    body.stop()
    body.stop()
    expect([places, deadlines.size]).toEqual([0, 0])
  })
})
