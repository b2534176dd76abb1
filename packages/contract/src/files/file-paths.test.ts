import { describe, expect, test } from "bun:test"
import { limits } from "../limits.ts"
import { findPathProblem, isInside, joinPath, toFileName, toParentPath } from "./file-paths.ts"

describe("findPathProblem", () => {
  const name = "n".repeat(limits.fileNameCharsMax)
  const levels = (count: number) => Array.from({ length: count }, () => "d").join("/")

  test.each([
    "a",
    "main.tsx",
    "a/b/c.ts",
    "$[id]/(x)-_.y",
    ".env",
    "node_modules/@types/a+b/~x,y=z!.ts",
    name,
    levels(20),
    "...",
    "a..b",
  ])("accepts %j", (path) => expect(findPathProblem(path)).toBeUndefined())

  test.each([
    "",
    "/",
    "/a",
    "a/",
    "a//b",
    ".",
    "..",
    "a/..",
    "./a",
    "a\\b",
    "a\0",
    "a\n",
    "a b",
    "é",
    "a%2Fb",
    "a?b",
    "a#b",
    "a:b",
    `${name}n`,
    levels(21),
    Array.from({ length: 7 }, () => name).join("/"),
  ])("refuses %j", (path) => expect(findPathProblem(path)).toStartWith("must "))
})

test("paths are split and joined", () => {
  expect(["a", "a/b", "a/b/c"].map(toParentPath)).toEqual(["", "a", "a/b"])
  expect(["a", "a/b", "a/b/c"].map(toFileName)).toEqual(["a", "b", "c"])
  expect([joinPath("", "a"), joinPath("a/b", "c")]).toEqual(["a", "a/b/c"])
  expect([
    isInside("a/b", "a"),
    isInside("ab", "a"),
    isInside("a", "a"),
    isInside("a", ""),
  ]).toEqual([true, false, false, true])
})
