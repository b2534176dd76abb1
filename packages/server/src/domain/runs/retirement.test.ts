import { expect, test } from "bun:test"
import { isSelected, type OfUser, type Outdated } from "./retirement.ts"

const program = {
  ownerId: "ada",
  accountId: "bob",
  valId: "val",
  version: 2,
  isMadeOf: (branchId: string, paths: readonly string[]) =>
    branchId === "branch" && paths.includes("main.tsx"),
}

const selections: readonly (readonly [Outdated | OfUser, boolean])[] = [
  [{ ownerId: "ada" }, true],
  [{ ownerId: "bob" }, false],
  [{ userId: "ada" }, true],
  [{ userId: "bob" }, true],
  [{ userId: "eve" }, false],
  [{ branchId: "branch", paths: ["README.md", "main.tsx"] }, true],
  [{ branchId: "branch", paths: ["README.md"] }, false],
  [{ branchId: "other", paths: ["main.tsx"] }, false],
  [{ valId: "val" }, true],
  [{ valId: "val", version: 2 }, true],
  [{ valId: "val", version: 1 }, false],
  [{ valId: "other" }, false],
]

test.each(selections)("isSelected finds the program by %j: %p", (selection, expected) => {
  expect(isSelected(program, selection)).toBe(expected)
})
