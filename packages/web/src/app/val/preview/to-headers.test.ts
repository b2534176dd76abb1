import { describe, expect, test } from "bun:test"
import { toHeaders } from "./to-headers.ts"

const json: [string, string] = ["content-type", "application/json"]

describe("toHeaders", () => {
  test("adds the type of a JSON body", () => {
    expect(toHeaders({ headers: "x-a: 1", body: ' {"a": [1]}' })).toEqual([["x-a", "1"], json])
    expect(toHeaders({ headers: "", body: "[]" })).toEqual([json])
  })

  test("leaves a typed content type as it is, in any case", () => {
    const headers = " Content-Type : text/csv"
    expect(toHeaders({ headers, body: "{}" })).toEqual([["Content-Type", "text/csv"]])
  })

  test("adds none to other texts", () => {
    for (const body of ["", "hello", "a=1", "12", "{not json}", '{"a":1} and more'])
      expect(toHeaders({ headers: "", body })).toEqual([])
  })
})
