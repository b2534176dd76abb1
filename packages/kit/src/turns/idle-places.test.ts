import { describe, expect, test } from "bun:test"
import { findIdlePlace, type Place } from "./idle-places.ts"

const idle = (address: string, activeMs: number): Place => ({ address, activeMs, isBusy: false })
const busy = (address: string): Place => ({ address, activeMs: 0, isBusy: true })

describe("findIdlePlace", () => {
  const find = (places: readonly Place[], address: string) =>
    findIdlePlace(new Map(places.entries()), address)

  test("finds the one of the address with most that has been idle for longest", () => {
    expect(find([idle("a", 1), idle("b", 5), idle("b", 4), busy("b")], "c")).toBe(2)
  })

  test("takes one of its own rather than of an address with as few", () => {
    expect(find([idle("a", 1), idle("b", 2)], "b")).toBe(1)
    expect(find([idle("a", 1), busy("b")], "b")).toBeUndefined()
    expect(find([idle("a", 1), idle("a", 2), idle("b", 0)], "b")).toBe(0)
    expect(find([idle("a", 2), idle("b", 1)], "c")).toBe(1)
  })

  test("takes none that is busy", () => {
    expect(find([busy("a"), busy("a")], "c")).toBeUndefined()
    expect(find([], "c")).toBeUndefined()
  })
})
