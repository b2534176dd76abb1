import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { codeOf } from "../../../test/support/rules.ts"
import { parseBody, readBody } from "./body.ts"

const url = "http://hamlet.test/v1/vals"
const encode = (text: string) => new TextEncoder().encode(text)

describe("readBody", () => {
  const read = (request: Request, bytesMax: number) => readBody(request, bytesMax, "sender")
  const toRequest = (body: BodyInit | null, headers: Record<string, string> = {}) =>
    new Request(url, { method: "POST", body, headers })

  /** A body of unknown length that counts how much of it was read. */
  function toStream(chunks: number, chunkBytes: number, end: "close" | "error" = "close") {
    const sent = { chunks: 0, isCancelled: false }
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          if (sent.chunks === chunks)
            return end === "close" ? controller.close() : controller.error(new Error("gone"))
          sent.chunks += 1
          controller.enqueue(new Uint8Array(chunkBytes).fill(sent.chunks))
        },
        cancel() {
          sent.isCancelled = true
        },
      },
      { highWaterMark: 0 },
    )
    return { body, sent }
  }

  test("returns the bytes, up to the limit", async () => {
    const bytes = new Uint8Array(1000).map((_, index) => index)
    expect(await read(toRequest(bytes), 1000)).toEqual(bytes)
    expect(await read(toRequest(bytes, { "content-length": "1000" }), 1000)).toEqual(bytes)
    expect(new Uint8Array(await read(toRequest(toStream(10, 100).body), 1000))).toHaveLength(1000)
  })

  test("returns no bytes without a body", async () => {
    expect(await read(toRequest(null), 10)).toHaveLength(0)
    expect(await read(toRequest(""), 10)).toHaveLength(0)
    expect(await read(toRequest(null, { "content-length": "0" }), 10)).toHaveLength(0)
    expect(await read(toRequest(toStream(0, 0).body), 10)).toHaveLength(0)
  })

  test("refuses one byte too many, with and without a length", async () => {
    const bytes = new Uint8Array(1001)
    for (const request of [
      toRequest(bytes),
      toRequest(bytes, { "content-length": "1001" }),
      toRequest(bytes, { "content-length": "5" }),
      toRequest(toStream(11, 100).body),
      toRequest(toStream(11, 100).body, { "content-length": "5" }),
    ]) {
      expect(await codeOf(read(request, 1000))).toBe("body_too_large")
    }
  })

  test("refuses a declared length before it reads the body", async () => {
    const { body, sent } = toStream(100, 100)
    expect(await codeOf(read(toRequest(body, { "content-length": "10000" }), 1000))).toBe(
      "body_too_large",
    )
    expect(sent.chunks).toBe(0)
  })

  test("stops reading at the limit, and cancels the stream", async () => {
    const { body, sent } = toStream(1_000_000, 100)
    expect(await codeOf(read(toRequest(body), 1000))).toBe("body_too_large")
    expect(sent.chunks).toBeLessThan(20)
    expect(sent.isCancelled).toBe(true)
  })

  test("refuses an incomplete body", async () => {
    for (const headers of [{}, { "content-length": "1000" }]) {
      const { body } = toStream(3, 100, "error")
      expect(await codeOf(read(toRequest(body, headers), 1000))).toBe("invalid_json")
    }
  })

  test.each(["gzip", "br", "zstd", "gzip, identity", "x"])(
    "refuses the content encoding %s",
    async (encoding) => {
      expect(await codeOf(read(toRequest("{}", { "content-encoding": encoding }), 10))).toBe(
        "unsupported_encoding",
      )
    },
  )

  test.each(["identity", "Identity", "IDENTITY"])(
    "accepts the content encoding %s",
    async (encoding) => {
      expect(await read(toRequest("{}", { "content-encoding": encoding }), 10)).toHaveLength(2)
    },
  )
})

describe("parseBody", () => {
  const codeTypes = [
    "text/plain",
    "text/plain; charset=utf-8",
    "TEXT/TSX",
    "application/javascript",
    "application/x-javascript",
    "text/javascript",
  ]
  const otherTypes = [
    null,
    "",
    "application/json",
    "application/x-www-form-urlencoded",
    "application/octet-stream",
    "x; y=text/plain",
  ]

  test("parses JSON with any content type", () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom(...codeTypes, ...otherTypes), (text, type) => {
        expect(parseBody(encode(text), type, false)).toEqual(JSON.parse(text))
      }),
    )
  })

  test("returns text of a code type as code, unless it is a JSON object with a string code", () => {
    const texts = fc.oneof(fc.string({ unit: "binary", minLength: 1 }), fc.json())
    fc.assert(
      fc.property(texts, fc.constantFrom(...codeTypes), (text, type) => {
        // A byte order mark is not part of the text.
        fc.pre(!text.startsWith("\ufeff"))
        expect(parseBody(encode(text), type, true)).toEqual({ code: text })
      }),
    )
  })

  const table: readonly [string, string | null, unknown][] = [
    ['{"code":"1"}', "text/plain", { code: "1" }],
    ['{"code":"1","name":"a"}', "application/javascript", { code: "1", name: "a" }],
    ['{"code":1}', "text/plain", { code: '{"code":1}' }],
    ['{"name":"a"}', "text/plain", { code: '{"name":"a"}' }],
    ['"code"', "text/plain", { code: '"code"' }],
    ["null", "text/plain", { code: "null" }],
    ["\n", "text/plain", { code: "\n" }],
    ['{"code":1}', "application/json", { code: 1 }],
    ["null", null, null],
    ['\ufeff{"code":"1"}', "application/json", { code: "1" }],
    ["", "application/json", {}],
    ["", "text/plain", {}],
  ]
  test.each(table)("parses %j with type %p on a route that takes code", (text, type, value) => {
    expect(parseBody(encode(text), type, true)).toEqual(value)
  })

  test.each(otherTypes)(
    "refuses invalid JSON with type %p, also on a route that takes code",
    async (type) => {
      for (const text of [
        "code",
        "{",
        "{}}",
        " ",
        "\n",
        "undefined",
        "NaN",
        "{'a':1}",
        '{"a":1,}',
      ]) {
        expect(await codeOf(() => parseBody(encode(text), type, true))).toBe("invalid_json")
      }
    },
  )

  test("does not return text as code on a route without code", async () => {
    expect(await codeOf(() => parseBody(encode("export const a = 1"), "text/plain", false))).toBe(
      "invalid_json",
    )
  })

  test("refuses invalid UTF-8, also as code", async () => {
    for (const bytes of [
      [0xff],
      [0xc3],
      [0xed, 0xa0, 0x80],
      [0xf8, 0x88, 0x80, 0x80, 0x80],
      [0x7b, 0x7d, 0x80],
    ]) {
      for (const type of ["application/json", "text/plain"]) {
        expect(await codeOf(() => parseBody(new Uint8Array(bytes), type, true))).toBe(
          "invalid_json",
        )
      }
    }
  })

  test("parses or refuses deeply nested JSON, and does not crash", async () => {
    for (const depth of [100_000, 1_000_000]) {
      const bytes = encode("[".repeat(depth) + "]".repeat(depth))
      const outcome = await codeOf(() => {
        parseBody(bytes, "application/json", false)
        throw Object.assign(new Error(), { code: "read" })
      })
      expect(["read", "invalid_json"]).toContain(outcome)
    }
  })

  test("is fast for a content type of white space", () => {
    const bytes = encode("{}")
    const type = "\u00a0".repeat(100_000)
    expect(parseBody(bytes, type, true)).toEqual({})
  })
})
