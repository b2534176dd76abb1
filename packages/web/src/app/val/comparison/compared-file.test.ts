import { describe, expect, test } from "bun:test"
import type { ListedFile } from "../files/load-files.ts"
import { compareFiles, summarize } from "./compared-file.ts"

function toFile(
  id: string,
  path: string,
  version = 1,
  type: ListedFile["type"] = "script",
): ListedFile {
  const name = path.split("/").at(-1) ?? path
  const links = { self: "", html: "", module: "" }
  return { id, path, name, type, version, updatedAt: "2026-01-01T00:00:00.000Z", links }
}

describe("compareFiles", () => {
  test("tells added, changed, moved and deleted files by their ids and versions", () => {
    const before = [
      toFile("1", "same.ts"),
      toFile("2", "changed.ts"),
      toFile("3", "old/moved.ts"),
      toFile("4", "gone.ts"),
      toFile("5", "old", 1, "directory"),
    ]
    const after = [
      toFile("1", "same.ts"),
      toFile("2", "changed.ts", 2),
      toFile("3", "moved.ts", 2),
      toFile("6", "new.ts", 2),
    ]
    const compared = compareFiles(before, after)
    expect(compared).toEqual([
      { path: "changed.ts", newPath: null, kind: "changed" },
      { path: "gone.ts", newPath: null, kind: "deleted" },
      { path: "new.ts", newPath: null, kind: "added" },
      { path: "old/moved.ts", newPath: "moved.ts", kind: "moved" },
    ])
    expect(summarize(compared)).toBe("4 files: 1 added, 1 changed, 1 moved, 1 deleted")
    expect(summarize(compared.slice(0, 1))).toBe("1 file changed")
    expect(compareFiles(after, after)).toEqual([])
  })

  test("shows a file that was deleted and made again as changed", () => {
    expect(compareFiles([toFile("1", "a.ts")], [toFile("2", "a.ts", 3)])).toEqual([
      { path: "a.ts", newPath: null, kind: "changed" },
    ])
  })
})
