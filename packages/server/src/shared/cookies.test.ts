import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import {
  listCookies,
  setsOwnCookie,
  toPageKey,
  toSessionCookieName,
  withoutOwnCookies,
} from "./cookies.ts"

const names = [...[true, false].map(toSessionCookieName), "hamlet_preview"]
/**
 * What can be between two semicolons of the header, with our names more often than chance would
 * have it.
 */
const piece = fc.oneof(
  fc.constantFrom(
    ...names.flatMap((name) => [
      name,
      `${name}=`,
      `${name}=x`,
      ` ${name} = y `,
      name.toUpperCase(),
      `${name}2=z`,
      `a=${name}`,
    ]),
  ),
  fc.string({ maxLength: 8 }),
)
const header = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(";"))

describe("withoutOwnCookies", () => {
  test("removes all cookies of the server, and a second call changes nothing", () => {
    fc.assert(
      fc.property(header, (text) => {
        const left = withoutOwnCookies(text) ?? ""
        for (const name of names)
          expect(listCookies(`${left}; ${name}=alone`, name)).toEqual(["alone"])
        expect(withoutOwnCookies(left) ?? "").toBe(left)
      }),
    )
  })

  test("does not change a header without them", () => {
    for (const text of ["", "a=b;c", "session=1 ;; x"]) expect(withoutOwnCookies(text)).toBe(text)
  })
})

describe("listCookies", () => {
  test("returns the values, whatever they contain, and nothing without a cookie", () => {
    expect(listCookies("a=b; s=c=d==", "s")).toEqual(["c=d=="])
    expect(listCookies("s", "s")).toEqual([""])
    expect(listCookies(" s = x ", "s")).toEqual(["x"])
    expect(listCookies("s=1; a=b;s = 2;s", "s")).toEqual(["1", "2", ""])
    for (const text of ["", "a=s", "S=1", "xs=1"]) expect(listCookies(text, "s")).toEqual([])
  })
})

describe("toPageKey", () => {
  test("differs for each session and does not contain the session", () => {
    expect(toPageKey("one")).toMatch(/^[\w-]{43}$/)
    expect(toPageKey("one")).not.toBe(toPageKey("two"))
  })
})

describe("setsOwnCookie", () => {
  test("reads the name only", () => {
    for (const name of names) {
      expect(setsOwnCookie(`${name}=1; Path=/`)).toBe(true)
      expect(setsOwnCookie(`a=${name}; Path=/${name}`)).toBe(false)
    }
  })
})
