import { describe, expect, test } from "bun:test"
import { isInside } from "@hamlet/contract/file-paths"
import fc from "fast-check"
import { type FileChange, type FileEdit, toChanges } from "./to-changes.ts"

const edit = (fields: Partial<FileEdit> & Pick<FileEdit, "path">): FileEdit => ({
  savedPath: fields.path,
  type: "script",
  isDeleted: false,
  content: undefined,
  isRetyped: false,
  ...fields,
})

/** Applies changes as the server does; a path that is taken or missing is an error. */
function apply(files: ReadonlyMap<string, string>, changes: readonly FileChange[]) {
  const after = new Map(files)
  const listWithin = (path: string) =>
    [...after.keys()].filter((one) => one === path || isInside(one, path))
  for (const change of changes) {
    if ("delete" in change) {
      const gone = listWithin(change.path)
      if (gone.length === 0) throw new Error(`nothing at ${change.path}`)
      for (const path of gone) after.delete(path)
    } else if ("newPath" in change) {
      const moved = listWithin(change.path)
      if (moved.length === 0) throw new Error(`nothing at ${change.path}`)
      if (change.newPath !== change.path && after.has(change.newPath))
        throw new Error(`${change.newPath} is taken`)
      for (const path of moved) {
        const text = after.get(path) ?? ""
        after.delete(path)
        after.set(change.newPath + path.slice(change.path.length), text)
      }
    } else if (change.type === "directory") after.set(change.path, "/")
    else after.set(change.path, change.content ?? "")
  }
  return after
}

describe("toChanges", () => {
  test("has nothing to do for files as they were saved", () => {
    expect(toChanges([edit({ path: "a.ts" }), edit({ path: "lib", type: "directory" })])).toEqual(
      [],
    )
  })

  test("writes, moves, deletes and retypes", () => {
    expect(
      toChanges([
        edit({ path: "a.ts", content: "1" }),
        edit({ savedPath: undefined, path: "new.ts", content: "2" }),
        edit({ savedPath: "b.ts", path: "lib/b.ts", content: "3" }),
        edit({ path: "c.ts", isDeleted: true }),
        edit({ path: "d.ts", type: "http", isRetyped: true }),
        edit({ savedPath: undefined, path: "empty", type: "directory" }),
        edit({ savedPath: undefined, path: "never.ts", isDeleted: true, content: "4" }),
      ]),
    ).toEqual([
      { path: "c.ts", delete: true },
      { path: "b.ts", newPath: "lib/b.ts" },
      { path: "a.ts", type: "script", content: "1" },
      { path: "new.ts", type: "script", content: "2" },
      { path: "lib/b.ts", type: "script", content: "3" },
      { path: "d.ts", newPath: "d.ts", type: "http" },
      { path: "empty", type: "directory" },
    ])
  })

  test("moves a directory with its files, and what has left it on its own", () => {
    expect(
      toChanges([
        edit({ savedPath: "lib", path: "src", type: "directory" }),
        edit({ savedPath: "lib/a.ts", path: "src/a.ts" }),
        edit({ savedPath: "lib/b.ts", path: "b.ts" }),
      ]),
    ).toEqual([
      { path: "lib", newPath: "src" },
      { path: "src/b.ts", newPath: "b.ts" },
    ])
  })

  test("exchanges two files", () => {
    const files = new Map([
      ["a.ts", "a"],
      ["b.ts", "b"],
    ])
    const changes = toChanges([
      edit({ savedPath: "a.ts", path: "b.ts" }),
      edit({ savedPath: "b.ts", path: "a.ts" }),
    ])
    expect(Object.fromEntries(apply(files, changes))).toEqual({ "a.ts": "b", "b.ts": "a" })
  })

  test("deletes a directory with what is left in it, and not what was moved out of it", () => {
    expect(
      toChanges([
        edit({ path: "lib", type: "directory", isDeleted: true }),
        edit({ path: "lib/a.ts", isDeleted: true }),
        edit({ savedPath: "lib/b.ts", path: "b.ts" }),
      ]),
    ).toEqual([
      { path: "lib/b.ts", newPath: "b.ts" },
      { path: "lib", delete: true },
    ])
  })

  test("keeps a directory that something new is in", () => {
    expect(
      toChanges([
        edit({ path: "lib", type: "directory", isDeleted: true }),
        edit({ path: "lib/a.ts", isDeleted: true }),
        edit({ savedPath: undefined, path: "lib/b.ts", content: "1" }),
      ]),
    ).toEqual([
      { path: "lib/a.ts", delete: true },
      { path: "lib/b.ts", type: "script", content: "1" },
    ])
  })

  test("leads from any files to any others", () => {
    const names = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d/e", "d/f", "g/h"), {
      minLength: 1,
    })
    fc.assert(
      fc.property(
        names,
        fc.array(fc.record({ to: fc.nat(5), isDeleted: fc.boolean(), isChanged: fc.boolean() })),
        names,
        (saved, fates, targets) => {
          const free = new Set<string>(targets)
          const edits: FileEdit[] = []
          const expected = new Map<string, string>()
          const take = (wanted: string) => (free.delete(wanted) ? wanted : undefined)
          for (const [index, path] of saved.entries()) {
            const fate = fates[index]
            const to = take(targets[fate?.to ?? 0] ?? path)
            const content = fate?.isChanged ? `new ${path}` : undefined
            edits.push(
              edit({ savedPath: path, path: to ?? path, isDeleted: to === undefined, content }),
            )
            if (to !== undefined) expected.set(to, content ?? path)
          }
          for (const path of free) {
            edits.push(edit({ savedPath: undefined, path, content: "added" }))
            expected.set(path, "added")
          }
          const after = apply(new Map(saved.map((path) => [path, path])), toChanges(edits))
          expect(new Map([...after].toSorted())).toEqual(new Map([...expected].toSorted()))
        },
      ),
      { numRuns: 300 },
    )
  })
})
