import { describe, expect, test } from "bun:test"
import { codeOf } from "../../../test/support/rules.ts"
import { toContent, toContentType } from "./byte-content.ts"

const toRequest = (body: BodyInit | null, headers: Record<string, string> = {}) =>
  new Request("http://x/", { method: "POST", body, headers })
const toText = async (pieces: AsyncIterable<Uint8Array>) =>
  Buffer.concat(await Array.fromAsync(pieces)).toString()

describe("toContent", () => {
  test.each([
    [null, undefined],
    ["3", 3],
    ["0", 0],
    ["-1", undefined],
    ["1e1", undefined],
    ["99999999999999999999", undefined],
  ])("reads the length %j as %j", (header, length) => {
    expect(
      toContent(toRequest("abc", header === null ? {} : { "content-length": header }), "sender")
        .length,
    ).toBe(length as number)
  })

  test("returns the bytes at once or in chunks, and none without a body", async () => {
    expect(
      Buffer.from(
        await toContent(toRequest("é", { "content-length": "2" }), "sender").bytes(),
      ).toString(),
    ).toBe("é")
    expect(await toText(toContent(toRequest("é"), "sender").stream())).toBe("é")
    expect(await toText(toContent(toRequest(null), "sender").stream())).toBe("")
  })

  test("refuses content of another length than declared", async () => {
    for (const length of ["2", "4"]) {
      expect(
        await codeOf(toContent(toRequest("abc", { "content-length": length }), "sender").bytes()),
      ).toBe("invalid_request")
      expect(
        await codeOf(
          toText(toContent(toRequest("abc", { "content-length": length }), "sender").stream()),
        ),
      ).toBe("invalid_request")
    }
  })

  test("refuses incomplete content", async () => {
    const broken = () =>
      new ReadableStream<Uint8Array>({
        pull(controller) {
          controller.enqueue(new Uint8Array(3))
          controller.error(new Error("gone"))
        },
      })
    expect(await codeOf(toText(toContent(toRequest(broken()), "sender").stream()))).toBe(
      "invalid_request",
    )
    expect(
      await codeOf(toContent(toRequest(broken(), { "content-length": "6" }), "sender").bytes()),
    ).toBe("invalid_request")
  })

  test("refuses compressed content", async () => {
    expect(
      await codeOf(() => toContent(toRequest("x", { "content-encoding": "gzip" }), "sender")),
    ).toBe("unsupported_encoding")
    expect(
      await toText(
        toContent(toRequest("x", { "content-encoding": "Identity" }), "sender").stream(),
      ),
    ).toBe("x")
  })
})

describe("toContentType", () => {
  test.each([
    ["text/plain", "text/plain"],
    [" a/b; c=d ", "a/b; c=d"],
    ["", null],
    [";", ";"],
    ["x".repeat(255), "x".repeat(255)],
  ])("accepts %j", (header, type) =>
    expect(toContentType(toRequest(new Uint8Array(), { "content-type": header }))).toBe(type),
  )

  test("refuses a type that is too long or not ASCII", async () => {
    for (const type of ["x".repeat(256), "text/\xe9"]) {
      expect(
        await codeOf(() => toContentType(toRequest(new Uint8Array(), { "content-type": type }))),
      ).toBe("invalid_request")
    }
    expect(toContentType(toRequest(new Uint8Array()))).toBeNull()
  })
})
