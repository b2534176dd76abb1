import { afterAll, describe, expect, test } from "bun:test"
import { createMask, noMask } from "@hamlet/kit"
import { GuestValueReader } from "./guest-value-reader.ts"

const reader = new GuestValueReader()
afterAll(() => reader.stop())

const toBytes = (value: unknown) => Buffer.from(JSON.stringify(value))
const toText = (json: string | Uint8Array) => Buffer.from(json as Uint8Array).toString()

// The larger of each two is read on another thread, and must come out the same.
const sizes: [string, string][] = [
  ["small", "x"],
  ["large", "x".repeat(200_000)],
]

describe.each(sizes)("GuestValueReader, when the value is %s,", (_size, filler) => {
  test("masks secrets in strings and keys, not in numbers", async () => {
    const mask = await createMask(
      new Map([
        ["KEY", "hunter22"],
        ["PIN", "123456"],
      ]),
    )
    const value = { filler, hunter22: ["is hunter22!", 123456, null, { a: "123456" }] }
    const read = await reader.readReturnedBytes(
      "ada",
      toBytes({ value, isTruncated: false, logCount: 3 }),
      mask,
    )
    const masked = {
      filler,
      "[secret KEY]": ["is [secret KEY]!", 123456, null, { a: "[secret PIN]" }],
    }
    expect(read && { ...read, json: JSON.parse(toText(read.json)) }).toEqual({
      json: masked,
      kept:
        filler.length === 1
          ? masked
          : expect.stringMatching(/^\{"filler":"x+… \(cut, 20\d+ bytes in all\)$/),
      isTruncated: false,
      logCount: 3,
    })
  })

  test("reads strings and null", async () => {
    const read = await reader.readReturnedBytes(
      "ada",
      toBytes({ value: filler, isTruncated: true, logCount: -1 }),
      noMask,
    )
    expect(read && toText(read.json)).toBe(JSON.stringify(filler))
    expect(read).toMatchObject({ isTruncated: true, logCount: 0 })
    const nothing = await reader.readReturnedBytes(
      "ada",
      toBytes({ value: null, isTruncated: false, logCount: 0, filler }),
      noMask,
    )
    expect(nothing && toText(nothing.json)).toBe("null")
  })

  test("returns undefined for an invalid message", async () => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`
    for (const text of [
      "",
      "[1",
      "7",
      "null",
      JSON.stringify({ value: 1, filler }),
      `{"value":${deep},"isTruncated":false}`,
    ])
      expect(
        await reader.readReturnedBytes(
          "ada",
          Buffer.from(`${text}${filler.length > 1 ? " ".repeat(40_000) : ""}`),
          noMask,
        ),
      ).toBeUndefined()
    for (const error of [7, {}, { name: 1, message: "" }, { name: "", message: "", stack: 1 }])
      expect(
        await reader.readFailureBytes("ada", toBytes({ error, filler }), noMask),
      ).toBeUndefined()
  })

  test("masks secrets in errors", async () => {
    const mask = await createMask(new Map([["KEY", "hunter22"]]))
    const error = { name: "hunter22", message: "no hunter22", stack: `hunter22 ${filler}` }
    const failure = await reader.readFailureBytes("ada", toBytes({ error, logCount: 1 }), mask)
    expect(failure).toMatchObject({
      error: { name: "[secret KEY]", message: "no [secret KEY]" },
      logCount: 1,
    })
    expect(failure?.error.stack).toStartWith("[secret KEY] x")
  })
})
