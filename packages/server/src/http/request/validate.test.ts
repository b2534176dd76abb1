import { describe, expect, test } from "bun:test"
import { routes } from "@hamlet/contract"
import fc from "fast-check"
import { z } from "zod"
import { AppError } from "../../domain/app-error.ts"
import { toQuery, validate } from "./validate.ts"

const schema = z.object({
  name: z.string().min(1),
  tags: z
    .array(z.object({ id: z.int() }))
    .max(3)
    .optional(),
})

describe("validate", () => {
  test("returns the parsed value without unknown keys", () => {
    expect(validate(schema, { name: "a", unknown: 1, tags: [{ id: 1, more: 2 }] })).toEqual({
      name: "a",
      tags: [{ id: 1 }],
    })
  })

  test("lists all issues with their paths, and has the first one in the message", () => {
    const error = caught(() => validate(schema, { name: 1, tags: [{ id: 1 }, { id: "x" }] }))
    expect(error).toMatchObject({ code: "invalid_request" })
    expect(error.issues?.map(({ path }) => path)).toEqual(["name", "tags.1.id"])
    expect(error.message).toBe(`Cannot accept the request: "name" ${error.issues?.[0]?.message}`)
  })

  test.each([[null], [1], ["x"], [[]], [undefined]])(
    "reports an issue with an empty path for %p",
    (value) => {
      const error = caught(() => validate(schema, value))
      expect(error.issues?.[0]?.path).toBe("")
      expect(error.message).toStartWith("Cannot accept the request: ")
    },
  )

  test("has a short message for any number of issues", () => {
    const wrong = Array(300_000).fill(0)
    for (const value of [
      { name: "a", scopes: wrong },
      { name: "a", scopes: wrong.map(String) },
    ]) {
      expect(
        JSON.stringify(caught(() => validate(routes.createToken.body, value)).issues).length,
      ).toBeLessThan(10_000)
    }
  })
})

describe("toQuery", () => {
  test.each<[string, Record<string, string | string[]>]>([
    ["http://x/v1", {}],
    ["http://x/v1?", {}],
    ["http://x/v1?a=1", { a: "1" }],
    ["http://x/v1?a=1&a=2", { a: ["1", "2"] }],
    ["http://x/v1?a=1&b=x&a=2&a=", { a: ["1", "2", ""], b: "x" }],
    ["/v1?a", { a: "" }],
    ["/v1?a=b?c=d", { a: "b?c=d" }],
    ["/v1?a=%20+%2B", { a: "  +" }],
    ["/v1?a=%zz&b=%ff", { a: "%zz", b: "\ufffd" }],
  ])("reads %s", (url, query) => {
    expect({ ...toQuery(url) }).toEqual(query)
  })

  test("parses any query, and does not change prototypes", () => {
    const name = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom("__proto__", "constructor", "toString", "hasOwnProperty"),
    )
    fc.assert(
      fc.property(
        fc.array(fc.tuple(name, fc.string({ unit: "binary" })), { maxLength: 20 }),
        (pairs) => {
          const query = toQuery(`http://x/?${new URLSearchParams(pairs)}`)
          const expected = Map.groupBy(pairs, ([key]) => key)
          expect(Object.keys(query).length).toBe(expected.size)
          for (const [key, values] of expected)
            expect([query[key]].flat()).toEqual(values.map(([, value]) => value))
          expect(Object.getPrototypeOf(query)).toBeNull()
        },
      ),
    )
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })

  test("returns an object for schemas, also with names of Object.prototype", () => {
    expect(
      validate(routes.listVals.query, toQuery("http://x/?limit=5&__proto__=1&constructor=2")),
    ).toMatchObject({ limit: 5, offset: 0 })
  })
})

function caught(run: () => unknown): AppError {
  try {
    run()
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error("nothing was thrown")
}
