import { afterEach, describe, expect, test } from "bun:test"
import { Watchdog } from "@hamlet/kit"
import { readRequestBody } from "./request-body.ts"

const limits = {
  requestBytesMax: 100,
  storedBodyBytesMax: 10,
  bodyMsMax: 400,
  bodyStalledMsMax: 400,
}

let deadlines = new Watchdog(5)
let places = 0
afterEach(() => {
  deadlines.stop()
  deadlines = new Watchdog(5)
  places = 0
})

const deps = () => ({
  limits,
  deadlines,
  sender: "127.0.0.1",
  acquireUpload: () => {
    places++
    let isTaken = true
    return () => {
      if (isTaken) places--
      isTaken = false
    }
  },
})

/** A request whose body is sent in chunks, and ends only on request. */
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

describe("readRequestBody", () => {
  test("reads a small body whole, without counting an upload", async () => {
    const body = await readRequestBody(
      toRequest(["hello"], true),
      { "content-length": "5" },
      deps(),
    )
    expect(body).toMatchObject({ storedCopy: btoa("hello"), failure: undefined })
    expect([places, deadlines.size]).toEqual([0, 0])
  })

  test("fails when a small body does not arrive in time", async () => {
    expect(
      await codeOf(
        Promise.resolve(
          readRequestBody(toRequest(["he"], false), { "content-length": "5" }, deps()),
        ),
      ),
    ).toBe("body_timed_out")
    expect(deadlines.size).toBe(0)
  })

  for (const known of [chunked, { "content-length": "50" }]) {
    const kind = Object.keys(known)[0]
    test(`releases the upload when a larger body with ${kind} is complete`, async () => {
      const body = await readRequestBody(
        toRequest(["a".repeat(20), "b".repeat(30)], true),
        known,
        deps(),
      )
      expect(places).toBe(1)
      expect(await new Response(body.content as ReadableStream<Uint8Array>).text()).toBe(
        "a".repeat(20) + "b".repeat(30),
      )
      expect([places, deadlines.size, body.failure]).toEqual([0, 0, undefined])
    })

    test(`fails when a body with ${kind} stalls`, async () => {
      const body = await readRequestBody(toRequest(["a".repeat(20)], false), known, deps())
      const reading = new Response(body.content as ReadableStream<Uint8Array>).text()
      expect(await codeOf(reading)).toBe("body_timed_out")
      expect(body.failure?.message).toBe("Cannot accept the body: nothing arrived for 0.4 seconds")
      expect([places, deadlines.size]).toEqual([0, 0])
    })
  }

  test("does not fail while the val does not read the body", async () => {
    const body = await readRequestBody(toRequest(["a", "b"], true), chunked, deps())
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

  test("fails when a body is larger than the limit", async () => {
    const body = await readRequestBody(
      toRequest(["a".repeat(60), "b".repeat(60)], false),
      chunked,
      deps(),
    )
    expect(await codeOf(new Response(body.content as ReadableStream<Uint8Array>).text())).toBe(
      "body_too_large",
    )
    expect([places, body.failure?.code]).toEqual([0, "body_too_large"])
  })

  test("releases the upload when the run ends first", async () => {
    const body = await readRequestBody(toRequest(["a"], false), chunked, deps())
    body.stop()
    body.stop()
    expect([places, deadlines.size]).toEqual([0, 0])
  })
})
