import { describe, expect, test } from "bun:test"
import { addToHistory, type TypedRequest } from "./request-history.ts"

const get: TypedRequest = { method: "GET", path: "/", headers: "", body: "" }

describe("addToHistory", () => {
  test("puts the latest request first and lists equal ones once", () => {
    const other = { ...get, path: "/other" }
    const history = addToHistory(addToHistory([get], other), get)
    expect(history).toEqual([get, other])
  })

  test("keeps twenty requests", () => {
    const all = Array.from({ length: 30 }, (_, index) => ({ ...get, path: `/${index}` }))
    const history = all.reduce(addToHistory, [] as readonly TypedRequest[])
    expect(history).toHaveLength(20)
    expect(history[0]?.path).toBe("/29")
  })

  test("leaves out credentials and requests that are too long", () => {
    const headers =
      "x-a: 1\nAuthorization: Bearer secret\ncookie:a=b\nX-Api-Key : k\nx-csrf-token: t"
    expect(addToHistory([], { ...get, headers })).toEqual([{ ...get, headers: "x-a: 1" }])
    expect(addToHistory([get], { ...get, body: "x".repeat(30_000) })).toEqual([get])
  })
})
