import { describe, expect, test } from "bun:test"
import { findPage } from "./pages.ts"

describe("findPage", () => {
  test("finds the page of a path and what the path says", () => {
    expect(findPage("/u/ada/hello")).toMatchObject({
      row: { pattern: "/u/{username}/{valName}" },
      props: { username: "ada", valName: "hello" },
    })
    expect(findPage("/")?.row.pattern).toBe("/")
    expect(findPage("/runs/")?.row.pattern).toBe("/runs")
  })

  test("finds nothing at a path that is too long, too short or unknown", () => {
    for (const path of ["/u", "/u/ada/hello/runs/more", "/nothing", "/embed/ada"])
      expect(findPage(path)).toBeUndefined()
  })

  test("takes a part that cannot be decoded as it is", () => {
    expect(findPage("/u/%zz")?.props).toEqual({ username: "%zz" })
  })
})
