import { describe, expect, test } from "bun:test"
import { bufferResponse } from "./buffered-response.ts"

const anyTime = 60_000
const read = (body: BodyInit | null, type?: string, headers: Record<string, string> = {}) =>
  bufferResponse(
    new Response(body, {
      headers: { ...(type === undefined ? {} : { "content-type": type }), ...headers },
    }),
    100,
    anyTime,
  )
const bytes = (...values: number[]) => Uint8Array.from(values)

describe("readResponse", () => {
  for (const type of [
    "text/plain",
    "TEXT/HTML; charset=UTF-8",
    "text/event-stream",
    'text/css; charset="utf8"',
    "application/json;charset=us-ascii",
    "application/problem+json",
    "image/svg+xml",
    "application/javascript",
    "application/x-www-form-urlencoded",
  ])
    test(`reads ${type} as text`, async () => {
      expect(await read(Buffer.from("é"), type)).toMatchObject({
        body: "é",
        isBase64: false,
        isTruncated: false,
      })
    })

  for (const type of [
    "image/png",
    "application/octet-stream",
    "text/plain; charset=latin1",
    "textual/x",
    "application/jsonish",
  ])
    test(`reads ${type} as bytes`, async () => {
      expect(await read(Buffer.from("é"), type)).toMatchObject({
        body: "w6k=",
        isBase64: true,
        isTruncated: false,
      })
    })

  test("reads content without a type, compressed content and invalid UTF-8 as bytes", async () => {
    expect(await read(bytes(65))).toMatchObject({ body: "QQ==", isBase64: true })
    expect(await read(bytes(65), "text/plain", { "content-encoding": "gzip" })).toMatchObject({
      body: "QQ==",
      isBase64: true,
    })
    expect(await read(bytes(65, 0xc3), "text/plain")).toMatchObject({
      body: "QcM=",
      isBase64: true,
    })
  })

  test("reads a response without a body as an empty text", async () => {
    expect(await read(null, "image/png")).toMatchObject({
      body: "",
      isBase64: false,
      isTruncated: false,
    })
  })

  test("keeps a byte order mark and every cookie", async () => {
    const headers = new Headers({ "content-type": "text/plain" })
    headers.append("set-cookie", "a=1")
    headers.append("set-cookie", "b=2")
    const answer = await bufferResponse(
      new Response(bytes(0xef, 0xbb, 0xbf, 65), { headers }),
      100,
      anyTime,
    )
    expect(answer.body).toBe("\ufeffA")
    expect(answer.headers.filter(([name]) => name === "set-cookie")).toEqual([
      ["set-cookie", "a=1"],
      ["set-cookie", "b=2"],
    ])
  })

  test("reads exactly up to the limit, and reports truncation", async () => {
    expect(await read("x".repeat(100), "text/plain")).toMatchObject({
      body: "x".repeat(100),
      isTruncated: false,
    })
    expect(await read("x".repeat(101), "text/plain")).toMatchObject({
      body: "x".repeat(100),
      isTruncated: true,
    })
  })

  test("drops an incomplete character at the end", async () => {
    expect(await read(`${"x".repeat(99)}é`, "text/plain")).toMatchObject({
      body: "x".repeat(99),
      isBase64: false,
      isTruncated: true,
    })
  })

  test("cancels an endless or silent response", async () => {
    let isCancelled = false
    const cancel = () => {
      isCancelled = true
    }
    const endless = new ReadableStream({
      pull: (controller) => controller.enqueue(Buffer.from("more ")),
      cancel,
    })
    expect(await read(endless, "text/plain")).toMatchObject({
      body: "more ".repeat(20),
      isTruncated: true,
    })
    expect(isCancelled).toBe(true)

    isCancelled = false
    const silent = new ReadableStream({
      start: (controller) => controller.enqueue(Buffer.from("said")),
      cancel,
    })
    const answer = await bufferResponse(
      new Response(silent, { headers: { "content-type": "text/plain" } }),
      100,
      1,
    )
    expect(answer).toMatchObject({ body: "said", isTruncated: true })
    expect(isCancelled).toBe(true)
  })

  test("returns the received part of a broken response", async () => {
    let pulls = 0
    const breaking = new ReadableStream({
      pull(controller) {
        pulls += 1
        if (pulls === 1) controller.enqueue(Buffer.from("half"))
        else controller.error(new Error("gone"))
      },
    })
    expect(await read(breaking, "text/plain")).toMatchObject({ body: "half", isTruncated: true })
  })
})
