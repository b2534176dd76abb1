import { describe, expect, test } from "bun:test"
import { type GuestRequest, writeGuestRequest } from "./guest-client.ts"

const request: GuestRequest = {
  method: "GET",
  host: "ada-hello.localhost",
  path: "/h1/x?y",
  headers: [],
  body: null,
}
const write = (more: Partial<GuestRequest>) => writeGuestRequest({ ...request, ...more })

describe("writeGuestRequest", () => {
  test("writes the headers as given, after Host", () => {
    const headers = [
      ["x-a", "1"],
      ["x-a", "\xe4\t2"],
    ] as const
    expect(write({ headers })?.text).toBe(
      "GET /h1/x?y HTTP/1.1\r\nhost: ada-hello.localhost\r\nx-a: 1\r\nx-a: \xe4\t2\r\n\r\n",
    )
  })

  const forged = [
    ["host", "evil"],
    ["connection", "close"],
    ["content-length", "7"],
    ["transfer-encoding", "gzip"],
  ] as const
  for (const [title, more, end, framing] of [
    ["GET without a body", {}, "", 0],
    ["POST without a body", { method: "POST" }, "content-length: 0\r\n", 0],
    ["bytes", { method: "POST", body: Buffer.from("abc") }, "content-length: 3\r\n", 3],
    [
      "a stream with a length",
      { method: "POST", body: new ReadableStream() },
      "content-length: 7\r\n",
      7,
    ],
  ] as const) {
    test(`sets the framing of the body itself: ${title}`, () => {
      const { method } = { ...request, ...more }
      const text = `${method} /h1/x?y HTTP/1.1\r\nhost: ada-hello.localhost\r\n${end}\r\n`
      expect(write({ ...more, headers: forged })).toMatchObject({ text, framing })
    })
  }

  test("uses chunked encoding for a stream without a length", () => {
    const head = write({ method: "POST", body: new ReadableStream() })
    expect([head?.text.endsWith("\r\ntransfer-encoding: chunked\r\n\r\n"), head?.framing]).toEqual([
      true,
      "chunked",
    ])
  })

  for (const bad of ["\r", "\n", "\0", "\r\nx: y", "\x7f", "\u0100", "\u{1f600}"]) {
    test(`refuses ${JSON.stringify(bad)} in every field`, () => {
      expect(write({ method: `G${bad}ET` })).toBeUndefined()
      expect(write({ path: `/${bad}` })).toBeUndefined()
      expect(write({ host: `a${bad}` })).toBeUndefined()
      expect(write({ headers: [[`x${bad}`, "y"]] })).toBeUndefined()
      // A DEL is harmless in a value, and the process decides what it thinks of it.
      if (bad !== "\x7f") expect(write({ headers: [["x", `y${bad}`]] })).toBeUndefined()
    })
  }

  test("refuses a space in method, path and host, and an empty header name", () => {
    expect([
      write({ path: "/a b" }),
      write({ method: "GET /x" }),
      write({ host: "a b" }),
      write({ headers: [["", "y"]] }),
    ]).toEqual(Array.from({ length: 4 }))
  })
})
