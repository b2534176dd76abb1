import { describe, expect, test } from "bun:test"
import { EditedFile } from "../edited-file.ts"
import type { FileType } from "../load-files.ts"
import { findFailed } from "./find-failed.ts"
import { hasTree, toTreeRows } from "./tree-rows.ts"

function toFile(path: string, type: FileType = "script", isDeleted = false): EditedFile {
  const file = new EditedFile({ path, type, text: "" }, async () => "")
  file.isDeleted.value = isDeleted
  return file
}

const show = (files: readonly EditedFile[], closed: readonly string[] = []) =>
  toTreeRows(files, new Set(closed)).map(({ level, name, isDeleted, index, count }) =>
    [" ".repeat(level - 1) + name, `${index}/${count}`, ...(isDeleted ? ["deleted"] : [])].join(
      " ",
    ),
  )

describe("toTreeRows", () => {
  const files = [
    toFile("README.md", "file"),
    toFile("z10.ts"),
    toFile("z9.ts"),
    toFile("lib", "directory"),
    toFile("lib/dates.ts"),
    // Nothing but the file says that the folder exists.
    toFile("views/parts/header.tsx"),
    toFile("views/README.md", "file"),
  ]

  test("lists folders first, then names in the order of people, without the readme", () => {
    expect(show(files)).toEqual([
      "lib 1/4",
      " dates.ts 1/1",
      "views 2/4",
      " parts 1/2",
      "  header.tsx 1/1",
      " README.md 2/2",
      "z9.ts 3/4",
      "z10.ts 4/4",
    ])
  })

  test("leaves out what is in closed folders", () => {
    expect(show(files, ["views/parts", "lib"])).toEqual([
      "lib 1/4",
      "views 2/4",
      " parts 1/2",
      " README.md 2/2",
      "z9.ts 3/4",
      "z10.ts 4/4",
    ])
  })

  test("shows a deleted folder as one row, unless something is in it again", () => {
    const deleted = [toFile("lib", "directory", true), toFile("lib/dates.ts", "script", true)]
    expect(show(deleted)).toEqual(["lib 1/1 deleted"])
    expect(show([...deleted, toFile("lib/new.ts")])).toEqual([
      "lib 1/1",
      " dates.ts 1/2 deleted",
      " new.ts 2/2",
    ])
  })
})

test("hasTree is true for more than one file, also a deleted one, besides the readme", () => {
  const one = toFile("main.ts")
  expect(hasTree([one])).toBe(false)
  expect(hasTree([one, toFile("README.md", "file")])).toBe(false)
  expect(hasTree([one, toFile("lib.ts")])).toBe(true)
  expect(hasTree([one, toFile("lib.ts", "script", true)])).toBe(true)
})

test("findFailed looks at the last run of each file that has ended", () => {
  const run = (id: string, status: "running" | "failed" | "succeeded", response?: number) => ({
    file: { id, path: `${id}.ts` },
    status,
    request: response === undefined ? null : { method: "GET", url: "/", status: response },
  })
  const runs = [
    run("a", "running"),
    run("a", "failed"),
    run("b", "succeeded"),
    run("b", "failed"),
    run("c", "succeeded", 503),
    { ...run("d", "failed"), file: null },
  ]
  expect([...findFailed(runs)]).toEqual(["a", "c"])
})
