import { describe, expect, test } from "bun:test"
import { type AccountSides, type AccountStep, planAccount } from "./plan-account.ts"

const val = (name: string, version = 1, id = "1") => ({
  id,
  name,
  version,
  privacy: "private" as const,
  type: "script" as const,
  updatedAt: "2026-01-01T00:00:00.000Z",
})
const known = (folder: string, name = folder, version = 1) =>
  new Map([["1", { folder, name, version }]])
const here = (folder: string) => new Map([["1", folder]])
const gone = new Set(["1"])

function plan(sides: Partial<AccountSides>, isDeleting = false) {
  const none: AccountSides = {
    known: new Map(),
    checkouts: new Map(),
    fresh: [],
    unsettled: new Set(),
    missing: new Set(),
    vals: [],
    hasMore: false,
  }
  return planAccount({ ...none, ...sides }, isDeleting)
}

function describeStep(step: AccountStep): string {
  const folder = "folder" in step ? step.folder : ""
  return [step.kind, folder, "val" in step ? step.val.name : ""].filter(Boolean).join(" ")
}

describe("planAccount", () => {
  const left = new Map([["1", { folder: "a", name: "a", version: 1, isLeft: true as const }]])
  test.each<[what: string, sides: Partial<AccountSides>, steps: string[]]>([
    ["a new val", { vals: [val("a")] }, ["write a"]],
    ["a new folder", { fresh: ["a"] }, ["create a"]],
    [
      "a new folder that is being written",
      { fresh: ["a"], unsettled: new Set(["a"]), vals: [val("b")] },
      ["write b"],
    ],
    ["a new folder with the name of a val", { fresh: ["A"], vals: [val("a")] }, ["adopt A a"]],
    ["both", { known: known("a"), checkouts: here("a"), vals: [val("a", 2)] }, ["sync a a"]],
    ["a folder without a record", { checkouts: here("a"), vals: [val("a")] }, ["sync a a"]],
    ["a renamed val", { known: known("a"), checkouts: here("a"), vals: [val("b")] }, ["move a b"]],
    [
      "a renamed val whose folder has another name",
      { known: known("x", "a"), checkouts: here("x"), vals: [val("b")] },
      ["sync x b"],
    ],
    [
      "a renamed folder",
      { known: known("a"), checkouts: here("b"), vals: [val("a")] },
      ["rename b a"],
    ],
    [
      "a renamed folder whose name no val can have",
      { known: known("a"), checkouts: here("my b"), vals: [val("a")] },
      ["sync my b a"],
    ],
    ["both renamed", { known: known("a"), checkouts: here("b"), vals: [val("c")] }, ["sync b c"]],
    ["a missing folder", { known: known("a"), missing: gone, vals: [val("a")] }, ["leave a"]],
    ["a folder that may come back", { known: known("a"), vals: [val("a")] }, []],
    [
      "a missing folder whose val has changed",
      { known: known("a"), missing: gone, vals: [val("a", 2)] },
      ["write a"],
    ],
    ["a val that was left", { known: left, missing: gone, vals: [val("a")] }, []],
    [
      "a val that was left and changed",
      { known: left, missing: gone, vals: [val("b")] },
      ["write b"],
    ],
    ["a deleted val", { known: known("a"), checkouts: here("a") }, ["discard a"]],
    ["a folder of an unknown val", { checkouts: here("a") }, ["ask a"]],
    ["both gone", { known: known("a"), missing: gone }, ["forget"]],
    [
      "a list that is not complete",
      { known: known("a"), checkouts: here("a"), fresh: ["b"], hasMore: true },
      [],
    ],
  ])("%s", (_, sides, steps) => {
    const planned = plan(sides)
    expect([planned.steps.map(describeStep), planned.problems.size]).toEqual([steps, 0])
  })

  test("deletes a val whose folder is missing only if asked to, and only one that was not changed", () => {
    const kinds = (version: number) =>
      plan({ known: known("a"), missing: gone, vals: [val("a", version)] }, true).steps.map(
        ({ kind }) => kind,
      )
    expect([kinds(1), kinds(2)]).toEqual([["delete"], ["write"]])
  })

  test("names a new folder that has the name of a val with another folder", () => {
    const { steps, problems } = plan({
      known: known("b", "a"),
      checkouts: here("b"),
      fresh: ["a"],
      vals: [val("a")],
    })
    expect(steps.map(describeStep)).toEqual(["sync b a"])
    expect(problems.get("a")).toContain('"b" is already the folder of the val')
  })

  test("frees names before they are taken", () => {
    const { steps } = plan({
      known: new Map([
        ["1", { folder: "a", name: "a", version: 1 }],
        ["2", { folder: "b", name: "b", version: 1 }],
      ]),
      checkouts: new Map([["2", "b"]]),
      missing: gone,
      vals: [val("a", 2), val("c", 1, "2")],
      fresh: ["d"],
    })
    expect(steps.map(describeStep)).toEqual(["move b c", "create d", "write a"])
  })
})
