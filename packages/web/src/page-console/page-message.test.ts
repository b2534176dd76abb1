import { describe, expect, test } from "bun:test"
import { type PageEntry, pageLimits, parsePageMessage, toPageMessage } from "./page-message.ts"

const entries: readonly PageEntry[] = [
  { kind: "page", path: "/a?b" },
  { kind: "line", level: "warn", text: "x\u0000", source: "/a.js:1" },
  { kind: "request", method: "GET", url: "/", status: 200, ms: 1.2, failure: "" },
  { kind: "omitted", count: 3 },
]
const toText = (value: unknown) => toPageMessage(value as never)

describe("parsePageMessage", () => {
  test("reads what the script sends", () => {
    expect(parsePageMessage(toPageMessage(entries))).toEqual(entries)
  })

  test("reads no other message, and none that is too large", () => {
    for (const data of [undefined, null, 1, [], entries, "", "[]", `${toPageMessage(entries)}]`])
      expect(parsePageMessage(data)).toBeUndefined()
    expect(parsePageMessage(toText({ length: 1 }))).toBeUndefined()
    expect(parsePageMessage(`${toPageMessage([])}${" ".repeat(pageLimits.messageCharsMax)}`)).toBe(
      undefined,
    )
    expect(parsePageMessage(toText("[").replace(/"\["$/, "[".repeat(600_000)))).toBeUndefined()
  })

  test("leaves out invalid entries, and cuts what is too long", () => {
    const long = "x".repeat(10_000)
    const given = [
      null,
      1,
      "line",
      [],
      {},
      { kind: "line", level: "fatal", text: "" },
      { kind: "other" },
      { kind: "page", path: { toString: 1 } },
      { kind: "line", level: "log", text: long, source: long, more: long },
      { kind: "request", method: long, url: long, status: -1, ms: "1", failure: [] },
      { kind: "omitted", count: 1e99 },
    ]
    expect(parsePageMessage(toText(given))).toEqual([
      { kind: "page", path: "" },
      { kind: "line", level: "log", text: long.slice(0, 4_000), source: long.slice(0, 300) },
      ...[{ kind: "request" as const, method: long.slice(0, 20), url: long.slice(0, 300) }].map(
        (it) => ({ ...it, status: 0, ms: 0, failure: "" }),
      ),
      { kind: "omitted", count: 0 },
    ])
    const many = Array.from({ length: 1_000 }, () => ({ kind: "omitted", count: 1 }))
    expect(parsePageMessage(toText(many))?.length).toBe(pageLimits.entriesMax)
  })
})
