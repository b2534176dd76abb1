import { describe, expect, test } from "bun:test"
import { prepareResponseHeaders } from "./response-headers.ts"

const prepare = (init: Record<string, string>, cookies: readonly string[] = []) => {
  const list = [
    ...Object.entries(init),
    ...cookies.map((cookie) => ["set-cookie", cookie] as const),
  ]
  const head = prepareResponseHeaders(list, "run", 1000)
  return { head, headers: head?.headers ?? new Headers() }
}

describe("prepareResponseHeaders", () => {
  for (const [length, expected] of [
    ["0", 0],
    ["12", 12],
    ["+1", undefined],
    ["1e3", undefined],
    ["-1", undefined],
    ["9".repeat(16), undefined],
  ] as const) {
    test(`reads the length "${length}" as ${expected}`, () => {
      expect(prepare({ "content-length": length }).head?.length).toBe(expected)
    })
  }

  test("returns headers of their own for responses with the same head", () => {
    const list = [["x-a", "1"]] as const
    prepareResponseHeaders(list, "first", 1000)?.headers.set("x-b", "2")
    const second = prepareResponseHeaders(list, "second", 1000)
    expect(second?.headers.toJSON()).toEqual({ "x-a": "1", "x-run-id": "second" })
    expect(prepareResponseHeaders(list, "third", 3)).toBeUndefined()
  })

  test("ignores a length beside a transfer encoding", () => {
    const { head, headers } = prepare({ "content-length": "3", "transfer-encoding": "chunked" })
    expect(head?.length).toBeUndefined()
    expect(headers.has("content-length")).toBe(false)
  })

  test("drops the headers that Connection names, and ignores invalid names", () => {
    const { headers } = prepare({ connection: "close, X-A ,, \u00e4, x b", "x-a": "1", "x-b": "2" })
    expect(headers.toJSON()).toEqual({ "x-b": "2", "x-run-id": "run" })
  })

  test("drops the headers that several Connection headers name, and hop-by-hop headers", () => {
    const list = [
      ["connection", "x-a"],
      ["connection", "x-b"],
      ["x-a", "1"],
      ["x-b", "2"],
      ["http2-settings", "AAMAAABkAAQAoAAAAAIAAAAA"],
      ["proxy-authorization", "Basic eDp5"],
      ["x-c", "3"],
    ] as const
    const head = prepareResponseHeaders(list, "run", 1000)
    expect(head?.headers.toJSON()).toEqual({ "x-c": "3", "x-run-id": "run" })
  })

  test("counts every byte of the headers", () => {
    expect(prepare({ "x-a": "y".repeat(990) }).head).toBeDefined()
    expect(prepare({ "x-a": "y".repeat(1000) }).head).toBeUndefined()
    expect(prepare({}, ["a".repeat(600), "b".repeat(600)]).head).toBeUndefined()
  })

  for (const cookie of [
    "hamlet_session=x",
    "__Host-hamlet_session=x; Path=/; Secure",
    "  hamlet_session \t= x; Domain=localhost",
    "Hamlet_Session=x",
    "__HOST-hamlet_session=x",
    "hamlet_session",
    "=hamlet_session=x",
    " = __Host-hamlet_session=x",
  ]) {
    test(`drops the session cookie "${cookie}"`, () => {
      expect(
        prepare({}, [cookie, "hamlet_session2=1", "a=hamlet_session"]).headers.getSetCookie(),
      ).toEqual(["hamlet_session2=1", "a=hamlet_session"])
    })
  }

  for (const [cookie, expected] of [
    ["a=b; Domain=x", "a=b"],
    ["a=b;domain=x;Path=/", "a=b;Path=/"],
    ["a=b; domain", "a=b"],
    ["a=b; \t DOMAIN \t = .x; Secure", "a=b; Secure"],
    ["domain=x; Secure", "domain=x; Secure"],
    ["a=b; Path=/domain=x", "a=b; Path=/domain=x"],
    ["a=b; Domain=x; Domain=y", "a=b"],
  ] as const) {
    test(`turns the cookie "${cookie}" into "${expected}"`, () => {
      expect(prepare({}, [cookie, "other=1"]).headers.getSetCookie()).toEqual([expected, "other=1"])
    })
  }
})
