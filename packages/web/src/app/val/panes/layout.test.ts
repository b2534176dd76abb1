import { describe, expect, test } from "bun:test"
import { readLayout } from "./layout.ts"

describe("readLayout", () => {
  test("reads what was stored", () => {
    const stored = {
      sidePercent: 30.5,
      isSideOpen: false,
      drawerPercent: 50,
      isHttpDrawerOpen: true,
      isDrawerOpen: false,
      isTreeOpen: false,
    }
    expect(readLayout(JSON.stringify(stored))).toEqual(stored)
  })

  test.each([null, "", "no JSON", "7", "null", '{"sidePercent":"40","isSideOpen":1}'])(
    "uses the defaults for %p",
    (text) => {
      expect(readLayout(text)).toMatchObject({ sidePercent: 42, isSideOpen: true })
    },
  )

  test("ignores a size at which a pane could not be used", () => {
    const { sidePercent, drawerPercent } = readLayout('{"sidePercent":3,"drawerPercent":100}')
    expect({ sidePercent, drawerPercent }).toEqual({ sidePercent: 42, drawerPercent: 28 })
  })
})
