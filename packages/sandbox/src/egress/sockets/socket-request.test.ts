import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { readSocketRequest, toReplyFrame } from "./socket-request.ts"

const bytesMax = 1_024

function toFrame(value: unknown): Buffer {
  const json = Buffer.from(typeof value === "string" ? value : JSON.stringify(value))
  const length = Buffer.alloc(2)
  length.writeUInt16BE(json.length)
  return Buffer.concat([length, json])
}
const connect = { kind: "connect", host: "db.example", port: 5432, run: "key run" }

describe("readSocketRequest", () => {
  test("reads a request when all of it has arrived", () => {
    const frame = toFrame(connect)
    for (let length = 0; length < frame.length; length++)
      expect(readSocketRequest(frame.subarray(0, length))).toEqual({ kind: "incomplete" })
    expect(readSocketRequest(frame)).toEqual({ kind: "request", request: connect as never })
  })

  test("keeps the fields that it knows", () => {
    const lookup = { kind: "lookup", host: "ä.example", run: "" }
    expect(readSocketRequest(toFrame({ ...lookup, port: 1, x: 2 }))).toEqual({
      kind: "request",
      request: lookup as never,
    })
    const records = { kind: "records", host: "db.example", type: "SRV", run: "" }
    expect(readSocketRequest(toFrame({ ...records, port: 1 }))).toEqual({
      kind: "request",
      request: records as never,
    })
    const chosen = { ...connect, address: "10.0.0.1" }
    expect(readSocketRequest(toFrame(chosen))).toEqual({
      kind: "request",
      request: chosen as never,
    })
  })

  test.each([
    [
      "bytes that follow",
      Buffer.concat([toFrame(connect), Buffer.from("x")]),
      "bytes follow before its reply",
    ],
    [
      "too many bytes",
      toFrame({ ...connect, run: "x".repeat(bytesMax) }),
      `it has more than ${bytesMax} bytes`,
    ],
    [
      "only the length of too many bytes",
      Buffer.from([0xff, 0xff]),
      `it has more than ${bytesMax} bytes`,
    ],
    ["no bytes", Buffer.from([0, 0]), "it is malformed"],
    ["HTTP", Buffer.from("GET / HTTP/1.1\r\n\r\n"), `it has more than ${bytesMax} bytes`],
    ["TLS", Buffer.from([0x16, 0x03, 0x01, 0x00, 0x05]), `it has more than ${bytesMax} bytes`],
    ["no JSON", toFrame("{"), "it is malformed"],
    ["null", toFrame("null"), "it is malformed"],
    ["a list", toFrame("[]"), "it is malformed"],
    ["another kind", toFrame({ ...connect, kind: "listen" }), "it is malformed"],
    ["no host", toFrame({ ...connect, host: "" }), "it is malformed"],
    ["a host that is no string", toFrame({ ...connect, host: ["db.example"] }), "it is malformed"],
    ["an address that is no string", toFrame({ ...connect, address: 1 }), "it is malformed"],
    ["no port", toFrame({ ...connect, port: undefined }), "it is malformed"],
    ["port 0", toFrame({ ...connect, port: 0 }), "it is malformed"],
    ["port 65536", toFrame({ ...connect, port: 65_536 }), "it is malformed"],
    ["a port that is text", toFrame({ ...connect, port: "5432" }), "it is malformed"],
    ["half a port", toFrame({ ...connect, port: 1.5 }), "it is malformed"],
    ["records of no type", toFrame({ ...connect, kind: "records" }), "it is malformed"],
    [
      "records of another type",
      toFrame({ ...connect, kind: "records", type: "AXFR" }),
      "it is malformed",
    ],
    ["no run", toFrame({ ...connect, run: undefined }), "it is malformed"],
  ])("refuses %s", (_, frame, reason) => {
    expect(readSocketRequest(frame)).toEqual({ kind: "invalid", reason })
  })

  test("never throws", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        expect(["request", "incomplete", "invalid"]).toContain(
          readSocketRequest(Buffer.from(bytes)).kind,
        )
      }),
    )
  })
})

test("toReplyFrame writes the length in bytes", () => {
  const frame = toReplyFrame({ kind: "refused", code: "EACCES", message: "ä" })
  expect(frame.readUInt16BE(0)).toBe(frame.length - 2)
  expect(JSON.parse(frame.toString("utf8", 2)).message).toBe("ä")
})
