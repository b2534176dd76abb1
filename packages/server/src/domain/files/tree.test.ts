import { describe, expect, test } from "bun:test"
import { createTree, type FileType, findEntry, findNextEntry, type PathState } from "./tree.ts"

function state(path: string, type: FileType | null = "file", fileId = path): PathState {
  return { path, type, fileId, since: 1, updatedAt: 1, bytes: 0 }
}

describe("createTree", () => {
  const tree = createTree([
    state("b.txt"),
    state("a", "directory"),
    state("a/x.txt"),
    state("a/b", "directory"),
    state("a/b/c.txt"),
    state("ab.txt"),
    state("old/gone.txt", null),
  ])
  const paths = (path: string, isRecursive: boolean) =>
    tree.list(path, isRecursive)?.map((file) => file.path)

  test("lists a file, the entries of a directory, and all below it", () => {
    expect(paths("", false)).toEqual(["a", "ab.txt", "b.txt"])
    expect(paths("a", false)).toEqual(["a/b", "a/x.txt"])
    expect(paths("a", true)).toEqual(["a/b", "a/b/c.txt", "a/x.txt"])
    expect(paths("a/x.txt", false)).toEqual(["a/x.txt"])
    expect(paths("A", false)).toBeUndefined()
    expect(paths("old", true)).toBeUndefined()
  })

  test("remembers the paths that have ended, and the directories that they were in", () => {
    expect(["old/gone.txt", "old", "a/x.txt", "", "gone.txt"].map(tree.hadPath)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ])
    expect(tree.states).toHaveLength(7)
  })
})

describe("findEntry", () => {
  const find = (...files: readonly (readonly [string, FileType])[]) =>
    findEntry(
      files.map(([path, type]) => ({ path, type, fileId: path })),
      "the-branch",
    )?.path

  test("is the file with the id of the branch while it exists", () => {
    const files = [
      { path: "main.tsx", type: "http", fileId: "1" },
      { path: "z.txt", type: "file", fileId: "the-branch" },
    ] as const
    expect(findEntry(files, "the-branch")?.path).toBe("z.txt")
  })

  test("is else main or index at the root, what has an address, then a script, by path", () => {
    expect(find()).toBeUndefined()
    expect(find(["a.txt", "file"], ["main.tsx", "directory"])).toBeUndefined()
    expect(find(["b.ts", "script"], ["a.ts", "script"])).toBe("a.ts")
    expect(find(["a.ts", "script"], ["z.ts", "email"], ["y.ts", "interval"])).toBe("y.ts")
    expect(find(["a.ts", "http"], ["index.js", "file"])).toBe("index.js")
    expect(find(["index.tsx", "http"], ["main.js", "script"])).toBe("main.js")
    expect(find(["main.ts", "script"], ["main.tsx", "script"])).toBe("main.tsx")
    expect(find(["src/main.tsx", "script"], ["a.ts", "http"])).toBe("a.ts")
  })

  test("is never the readme", () => {
    expect(find(["README.md", "http"], ["z.ts", "script"])).toBe("z.ts")
    const own = { path: "README.md", type: "file", fileId: "the-branch" } as const
    expect(findEntry([own], "the-branch")).toBeUndefined()
  })
})

describe("findNextEntry", () => {
  const toState = (path: string): PathState => ({
    path,
    fileId: path,
    type: "script",
    since: 1,
    updatedAt: 1,
    bytes: 1,
  })
  const find = (entryFileId: string, before: readonly string[], after: readonly string[]) => {
    const branch = { id: "the-branch", entryFileId }
    return findNextEntry(
      createTree(before.map(toState)),
      branch,
      createTree(after.map(toState)).files,
    )?.path
  }

  test("keeps a file that the rule would not have chosen, while it exists", () => {
    expect(find("b.ts", ["a.ts", "b.ts"], ["a.ts", "b.ts", "c.ts"])).toBe("b.ts")
    expect(find("b.ts", ["a.ts", "b.ts"], ["a.ts", "c.ts"])).toBe("a.ts")
  })

  test("chooses anew if the rule had chosen", () => {
    expect(find("b.ts", ["b.ts"], ["a.ts", "b.ts"])).toBe("a.ts")
  })
})
