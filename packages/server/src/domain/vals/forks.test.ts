import { describe, expect, test } from "bun:test"
import { asOwner } from "../access/rights.ts"
import { findOrigin, toForkName } from "./forks.ts"

describe("toForkName", () => {
  test("is the same name at first, then a name with a number, then with random digits", () => {
    const names = Array.from({ length: 11 }, (_, attempt) => toForkName("hello", attempt, () => 0))
    expect(names.slice(0, 3)).toEqual(["hello", "hello_2", "hello_3"])
    expect(names.slice(8)).toEqual(["hello_9", "hello_100", "hello_1000"])
    expect(toForkName("hello", 40, () => 0.999)).toMatch(/^hello_\d{10}$/)
  })

  test("is never longer than a name may be", () => {
    for (const attempt of [0, 1, 8, 9, 40])
      expect(toForkName("a".repeat(48), attempt)).toHaveLength(48)
  })
})

describe("findOrigin", () => {
  const origin = { id: "o", name: "origin", version: 2, ownerId: "ada", ownerName: "ada" }
  const shownTo = (privacy: "public" | "unlisted" | "private") =>
    ["ada", "bob", "carol", undefined].filter((userId) =>
      findOrigin(
        { ownerId: "bob", forkedFrom: { ...origin, privacy } },
        userId === undefined ? undefined : asOwner(userId),
      ),
    )

  test("shows a public original to everyone", () => {
    expect(shownTo("public")).toEqual(["ada", "bob", "carol", undefined])
  })

  test("shows an unlisted original to its owner and to the owner of the fork", () => {
    expect(shownTo("unlisted")).toEqual(["ada", "bob"])
  })

  test("shows a private original to its owner", () => {
    expect(shownTo("private")).toEqual(["ada"])
  })

  test("is null for a val that is no fork", () => {
    expect(findOrigin({ ownerId: "bob", forkedFrom: null }, asOwner("bob"))).toBeNull()
  })
})
