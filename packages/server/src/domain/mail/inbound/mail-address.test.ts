import { describe, expect, test } from "bun:test"
import { parseMailAddress, toMailAddress } from "./mail-address.ts"

const id = "0192f0c1-2345-7abc-8def-0123456789ab"

describe("toMailAddress", () => {
  test("joins the names of user and val", () => {
    expect(toMailAddress("vals.example.com", { id, ownerName: "ada", name: "my_val" })).toBe(
      "ada.my_val@vals.example.com",
    )
  })

  test("uses the id when the names are too long for an address", () => {
    const val = { id, ownerName: "a".repeat(30), name: "b".repeat(48) }
    expect(toMailAddress("vals.example.com", val)).toBe(`${id}@vals.example.com`)
  })
})

describe("parseMailAddress", () => {
  const cases: [address: string, found: unknown][] = [
    ["ada.hello@vals.example.com", { kind: "name", username: "ada", name: "hello" }],
    ["Ada.Hello_2@VALS.Example.com", { kind: "name", username: "Ada", name: "Hello_2" }],
    ["ada.hello@vals.example.com.", { kind: "name", username: "ada", name: "hello" }],
    ["ada.hello+orders.7@vals.example.com", { kind: "name", username: "ada", name: "hello" }],
    ["a_da.hello@vals.example.com", { kind: "name", username: "a_da", name: "hello" }],
    [`${id}@vals.example.com`, { kind: "id", id }],
    [`${id.toUpperCase()}+x@vals.example.com`, { kind: "id", id }],
    [`${id.replaceAll("-", "")}@vals.example.com`, { kind: "id", id }],
    ["ada.hello@example.com", undefined],
    ["ada.hello@evil.vals.example.com", undefined],
    ["ada.hello@vals.example.com@evil.com", undefined],
    ["ada.hello%evil.com@vals.example.com", undefined],
    ["@evil.com:ada.hello@vals.example.com", undefined],
    ['"ada.hello"@vals.example.com', undefined],
    ["ada@vals.example.com", undefined],
    ["ada.@vals.example.com", undefined],
    [".hello@vals.example.com", undefined],
    ["ada.hello.more@vals.example.com", undefined],
    ["1ada.hello@vals.example.com", undefined],
    [`${"a".repeat(31)}.hello@vals.example.com`, undefined],
    [`ada.${"b".repeat(49)}@vals.example.com`, undefined],
    ["ada.hello", undefined],
    ["", undefined],
  ]
  for (const [address, found] of cases)
    test(`reads "${address}"`, () => {
      expect(parseMailAddress(address, "vals.example.com")).toEqual(found as undefined)
    })
})
