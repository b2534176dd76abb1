import { describe, expect, test } from "bun:test"
import { valName } from "@hamlet/contract"
import fc from "fast-check"
import { createLinks } from "./links.ts"

const id = "01890000-0000-7000-8000-000000000001"

describe("createLinks", () => {
  test("builds URLs from the base URL, and endpoints from the domain of vals", () => {
    const links = createLinks("https://hamlet.example/base", "vals.example:444")
    expect(links.baseUrl).toBe("https://hamlet.example/base")
    expect(links.user(id)).toBe(`https://hamlet.example/base/v1/users/${id}`)
    expect(links.userPage("Ada")).toBe("https://hamlet.example/base/u/Ada")
    expect(links.val(id)).toBe(`https://hamlet.example/base/v1/vals/${id}`)
    expect(links.valPage("Ada", "Hello")).toBe("https://hamlet.example/base/u/Ada/Hello")
    expect(links.module("Ada", "Hello")).toBe("https://hamlet.example/base/v/Ada/Hello")
    expect(links.endpoint({ id, ownerName: "Ada", name: "Hello_1" })).toBe(
      "https://ada-hello_1.vals.example:444",
    )
  })

  test("uses the scheme of the base URL for endpoints", () => {
    expect(
      createLinks("http://localhost:8080", "localhost:8080").endpoint({
        id,
        ownerName: "ada",
        name: "hello",
      }),
    ).toBe("http://ada-hello.localhost:8080")
  })

  test("names the owner before the id of a file, if there is room", () => {
    const { fileEndpoint } = createLinks("http://localhost", "localhost")
    const bare = id.replaceAll("-", "")
    expect(fileEndpoint({ ownerName: "Ada" }, id)).toBe(`http://ada--${bare}.localhost`)
    const at = (length: number) => fileEndpoint({ ownerName: "u".repeat(length) }, id)
    expect(at(29)).toBe(`http://${"u".repeat(29)}--${bare}.localhost`)
    expect(at(30)).toBe(`http://${bare}.localhost`)
  })

  describe("endpoint", () => {
    const { endpoint } = createLinks("http://localhost", "localhost")
    const name = (charsMax: number) =>
      fc
        .integer({ min: 0, max: charsMax - 1 })
        .chain((length) => fc.stringMatching(new RegExp(`^[a-zA-Z][a-zA-Z0-9_]{${length}}$`)))
    const val = fc.record({ id: fc.uuid({ version: 7 }), ownerName: name(30), name: name(48) })

    test("has a valid host label for names of any length", () => {
      fc.assert(
        fc.property(val, (it) => {
          expect(valName.safeParse(it.name).success).toBe(true)
          const label = /^http:\/\/([^.]+)\.localhost$/.exec(endpoint(it))?.[1] ?? ""
          expect(label).toMatch(/^[a-z0-9][a-z0-9_-]{0,62}$/)
          expect(URL.canParse(endpoint(it))).toBe(true)
        }),
      )
    })

    test("uses the names if they fit, else the id", () => {
      const at = (length: number) =>
        endpoint({ id, ownerName: "u".repeat(30), name: "n".repeat(length) })
      expect(at(32)).toBe(`http://${"u".repeat(30)}-${"n".repeat(32)}.localhost`)
      expect(at(33)).toBe("http://01890000000070008000000000000001.localhost")
    })

    test("differs for each val", () => {
      fc.assert(
        fc.property(val, val, (left, right) => {
          const isSame =
            left.ownerName.toLowerCase() === right.ownerName.toLowerCase() &&
            left.name.toLowerCase() === right.name.toLowerCase()
          fc.pre(!isSame && left.id !== right.id)
          expect(endpoint(left)).not.toBe(endpoint(right))
        }),
      )
      expect(endpoint({ id, ownerName: "a", name: "b_c" })).not.toBe(
        endpoint({ id, ownerName: "a_b", name: "c" }),
      )
    })
  })
})
