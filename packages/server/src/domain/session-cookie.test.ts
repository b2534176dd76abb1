import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { findCookie, setsSessionCookie, toSessionCookieName, withoutSessionCookies } from "./session-cookie.ts"

const names = [true, false].map(toSessionCookieName)
/** What can be between two semicolons of the header, with our names more often than chance would have it. */
const piece = fc.oneof(
  fc.constantFrom(
    ...names.flatMap((name) => [name, `${name}=`, `${name}=x`, ` ${name} = y `, name.toUpperCase(), `${name}2=z`, `a=${name}`]),
  ),
  fc.string({ maxLength: 8 }),
)
const header = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(";"))

describe("withoutSessionCookies", () => {
  test("leaves nothing that could be found, and changes nothing when it is done again", () => {
    fc.assert(
      fc.property(header, (text) => {
        const left = withoutSessionCookies(text) ?? ""
        for (const name of names) expect(findCookie(`${left}; ${name}=alone`, name)).toBe("alone")
        expect(withoutSessionCookies(left) ?? "").toBe(left)
      }),
    )
  })

  test("leaves a header as it is in which no name of ours is", () => {
    for (const text of ["", "a=b;c", "session=1 ;; x"]) expect(withoutSessionCookies(text)).toBe(text)
  })
})

describe("findCookie", () => {
  test("gives the value, whatever is in it, and nothing when there is none or more than one", () => {
    expect(findCookie("a=b; s=c=d==", "s")).toBe("c=d==")
    expect(findCookie("s", "s")).toBe("")
    expect(findCookie(" s = x ", "s")).toBe("x")
    for (const text of ["", "a=s", "S=1", "s=1; s=1", "s=1;s", "xs=1"]) expect(findCookie(text, "s")).toBeUndefined()
  })
})

describe("setsSessionCookie", () => {
  test("looks at the name alone", () => {
    for (const name of names) {
      expect(setsSessionCookie(`${name}=1; Path=/`)).toBe(true)
      expect(setsSessionCookie(`a=${name}; Path=/${name}`)).toBe(false)
    }
  })
})
