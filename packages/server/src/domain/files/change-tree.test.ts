import { describe, expect, test } from "bun:test"
import { limits } from "@hamlet/contract"
import { findPathProblem, isInside, toParentPath } from "@hamlet/contract/file-paths"
import fc from "fast-check"
import { AppError } from "../app-error.ts"
import { changeTree, type FileChange, type PlannedTree } from "./change-tree.ts"
import { createTree, type FileType, type PathState, type Tree } from "./tree.ts"

/** New ids in order. */
function createIds(): () => string {
  let count = 0
  return () => {
    count += 1
    return `id${count}`
  }
}

function toText(text: string) {
  return { text, bytes: text.length, imports: [], isRemote: false }
}

function put(path: string, text = "x", type?: FileType): FileChange {
  return type === "directory"
    ? { kind: "put", path, type }
    : { kind: "put", path, type, content: toText(text) }
}

/** The tree after the changes, as the next version would read it. */
function apply(tree: Tree, changes: readonly FileChange[], newId = createIds()): Tree {
  const planned = changeTree(tree, changes, newId)
  const before = new Map(tree.files.map((file) => [file.path, file as PathState]))
  for (const { path, fileId, type, content, origin } of planned.changed) {
    const bytes = (content ?? origin)?.bytes ?? 0
    before.set(path, { path, fileId, type, bytes, since: 2, updatedAt: 2 })
  }
  return createTree([...before.values()])
}

function pathsOf(tree: Tree): readonly string[] {
  return tree.files.map(({ path, type }) => (type === "directory" ? `${path}/` : path))
}

function refusalOf(tree: Tree, changes: readonly FileChange[]): string {
  try {
    changeTree(tree, changes, createIds())
  } catch (error) {
    if (error instanceof AppError) return error.code
    throw error
  }
  return "none"
}

const empty = createTree([])

describe("changeTree", () => {
  test("makes missing directories, each once", () => {
    expect(pathsOf(apply(empty, [put("a/b/c.ts"), put("a/d.ts")]))).toEqual([
      "a/",
      "a/b/",
      "a/b/c.ts",
      "a/d.ts",
    ])
  })

  test("guesses the type of a new file, and keeps that of an old one", () => {
    const tree = apply(empty, [put("a.tsx"), put("b.md"), put("c.ts", "x", "http")])
    expect(tree.files.map(({ type }) => type)).toEqual(["script", "file", "http"])
    expect(apply(tree, [put("c.ts", "y")]).find("c.ts")?.type).toBe("http")
  })

  test("ends the path that a file is moved from, and keeps its id", () => {
    const tree = apply(empty, [put("a.ts")])
    const { changed } = changeTree(
      tree,
      [{ kind: "update", path: "a.ts", newPath: "b.ts" }],
      createIds(),
    )
    const file = tree.find("a.ts")
    expect(changed.map(({ path, type, fileId }) => [path, type, fileId])).toEqual([
      ["a.ts", null, file?.fileId ?? ""],
      ["b.ts", "script", file?.fileId ?? ""],
    ])
    expect(changed[1]?.origin).toEqual(file)
  })

  test("replaces a file that was deleted by another with a new id, without an end", () => {
    const tree = apply(empty, [put("a.ts")])
    const { changed } = changeTree(
      tree,
      [{ kind: "delete", path: "a.ts", isRecursive: false }, put("a.ts", "y")],
      () => "new",
    )
    expect(changed).toMatchObject([{ path: "a.ts", fileId: "new", type: "script" }])
  })

  test("swaps two files", () => {
    const tree = apply(empty, [put("a.ts", "1"), put("b.ts", "22")])
    const swapped = apply(tree, [
      { kind: "update", path: "a.ts", newPath: "c.ts" },
      { kind: "update", path: "b.ts", newPath: "a.ts" },
      { kind: "update", path: "c.ts", newPath: "b.ts" },
    ])
    expect(swapped.files.map(({ path, bytes }) => [path, bytes])).toEqual([
      ["a.ts", 2],
      ["b.ts", 1],
    ])
  })

  test("changes nothing for changes that cancel each other", () => {
    const tree = apply(empty, [put("a/b.ts")])
    const there: FileChange = { kind: "update", path: "a", newPath: "c" }
    const back: FileChange = { kind: "update", path: "c", newPath: "a" }
    expect(changeTree(tree, [there, back], createIds()).changed).toEqual([])
  })

  test("refuses what cannot be, and says which error it is", () => {
    const tree = apply(empty, [put("a/x.ts"), put("b.ts")])
    const move = (path: string, newPath: string): FileChange => ({ kind: "update", path, newPath })
    const remove = (path: string): FileChange => ({ kind: "delete", path, isRecursive: false })
    for (const [change, code] of [
      [put("a", "x", "file"), "file_exists"],
      [put("b.ts", "", "directory"), "file_exists"],
      [put("b.ts/x.ts"), "file_exists"],
      [put("A/y.ts"), "file_exists"],
      [{ ...put("b.ts"), isNew: true }, "file_exists"],
      [move("a", "b.ts"), "file_exists"],
      [move("a", "a/b"), "moved_into_itself"],
      [move("b.ts", "../b.ts"), "invalid_request"],
      [move("c.ts", "d.ts"), "file_not_found"],
      [{ kind: "update", path: "a", content: toText("") }, "is_directory"],
      [remove("a"), "directory_not_empty"],
      [remove(""), "directory_not_empty"],
      [remove("c.ts"), "file_not_found"],
    ] as const)
      expect([change, refusalOf(tree, [change as FileChange])]).toEqual([change, code])
  })

  test("refuses a directory whose files would get paths that are too long", () => {
    const deep = Array.from({ length: limits.filePathLevelsMax - 1 }, () => "d").join("/")
    const tree = apply(empty, [put(`${deep}/x.ts`)])
    expect(refusalOf(tree, [{ kind: "update", path: "d", newPath: "e/f" }])).toBe("invalid_request")
  })

  test("refuses more than a version may have, but lets a full one get smaller", () => {
    const files = Array.from({ length: limits.filesPerVersionMax }, (_, index) => put(`f${index}`))
    const full = apply(empty, files)
    expect(refusalOf(full, [put("more")])).toBe("val_full")
    expect(refusalOf(full, [put("f1", "other")])).toBe("none")
    expect(refusalOf(full, [{ kind: "delete", path: "f1", isRecursive: false }])).toBe("none")
    const big = { text: "", bytes: limits.versionBytesMax + 1, imports: [], isRemote: false }
    expect(refusalOf(empty, [{ kind: "put", path: "a", content: big }])).toBe("val_full")
    const directories = Array.from({ length: limits.directoriesPerVersionMax + 1 }, (_, index) =>
      put(`d${index}`, "", "directory"),
    )
    expect(refusalOf(empty, directories)).toBe("val_full")
  })

  test("refuses more imports of vals than a version may have, and of more vals than a save may", () => {
    const importing = (count: number, vals: number): FileChange => {
      const imports = Array.from({ length: count }, (_, index) => ({
        username: "ada",
        name: `v${index % vals}`,
        branch: null,
        version: null,
        specifiers: [],
      }))
      return { kind: "put", path: "a.ts", content: { text: "", bytes: 0, imports } }
    }
    const { importsPerVersionMax: importsMax, importedValsPerSaveMax: valsMax } = limits
    expect(refusalOf(empty, [importing(importsMax, 10)])).toBe("none")
    expect(refusalOf(empty, [importing(importsMax + 1, 10)])).toBe("val_full")
    expect(refusalOf(empty, [importing(valsMax, valsMax)])).toBe("none")
    expect(refusalOf(empty, [importing(valsMax + 1, valsMax + 1)])).toBe("val_full")
  })

  test("refuses another path on a branch that has had too many", () => {
    const ended = Array.from({ length: 5_000 }, (_, index): PathState => {
      const state = { path: `old${index}`, fileId: "x", since: 1, updatedAt: 1, bytes: 0 }
      return { ...state, type: null }
    })
    expect(refusalOf(createTree(ended), [put("new.ts")])).toBe("val_full")
    expect(refusalOf(createTree(ended.slice(1)), [put("new.ts")])).toBe("none")
  })

  test("refuses to move a large directory again and again", () => {
    const tree = apply(
      empty,
      Array.from({ length: 500 }, (_, index) => put(`d/${index}`)),
    )
    const moves = Array.from({ length: limits.fileChangesMax }, (_, index) =>
      index % 2 === 0
        ? ({ kind: "update", path: "d", newPath: "e" } as const)
        : ({ kind: "update", path: "e", newPath: "d" } as const),
    )
    expect(refusalOf(tree, moves)).toBe("invalid_request")
  })
})

/** A simple model: the paths of files with a text and of directories, without ids. */
type Model = Map<string, string | undefined>

/** Applies a change to a model; undefined if it is impossible. */
function applyToModel(model: Model, change: FileChange): Model | undefined {
  const next = new Map(model)
  const add = (path: string, text: string | undefined) => {
    if (findPathProblem(path)) return false
    for (let parent = toParentPath(path); parent !== ""; parent = toParentPath(parent)) {
      if (next.has(parent) && next.get(parent) !== undefined) return false
      next.set(parent, undefined)
    }
    if (next.has(path)) return false
    next.set(path, text)
    return true
  }
  const isCaseClash = () =>
    new Set([...next.keys()].map((path) => path.toLowerCase())).size < next.size
  if (change.kind === "put") {
    const text = change.type === "directory" ? undefined : change.content?.text
    if (next.has(change.path)) {
      if ((next.get(change.path) === undefined) !== (text === undefined)) return undefined
      next.set(change.path, text)
    } else if (!add(change.path, text)) return undefined
    return isCaseClash() ? undefined : next
  }
  if (change.kind === "delete") {
    if (change.path !== "" && !next.has(change.path)) return undefined
    for (const path of [...next.keys()])
      if (path === change.path || isInside(path, change.path)) next.delete(path)
    return next
  }
  const { path, newPath = path } = change
  if (!next.has(path)) return undefined
  if (newPath === path) return next
  if (isInside(newPath, path)) return undefined
  const moved = [...next].filter(([one]) => one === path || isInside(one, path))
  for (const [one] of moved) next.delete(one)
  for (const [one, text] of moved.sort(([left], [right]) => (left < right ? -1 : 1)))
    if (!add(`${newPath}${one.slice(path.length)}`, text)) return undefined
  return isCaseClash() ? undefined : next
}

const paths = fc.constantFrom("a", "A", "b", "a/b", "a/B", "a/c", "a/b/c", "b/a", "c/a/b", "c")
const changes = fc.oneof(
  fc.tuple(paths, fc.constantFrom("1", "2")).map(([path, text]) => put(path, text)),
  paths.map((path) => put(path, "", "directory")),
  fc.tuple(paths, paths).map(([path, newPath]): FileChange => ({ kind: "update", path, newPath })),
  fc
    .oneof(paths, fc.constant(""))
    .map((path): FileChange => ({ kind: "delete", path, isRecursive: true })),
)

describe("changeTree with a model", () => {
  test("does what the model does, and keeps its promises", () => {
    fc.assert(
      fc.property(fc.array(changes, { maxLength: 20 }), (steps) => {
        const newId = createIds()
        let tree = empty
        let model: Model = new Map()
        const seen = new Set<string>()
        for (const step of steps) {
          const expected = applyToModel(model, step)
          let planned: PlannedTree | undefined
          try {
            planned = changeTree(tree, [step], newId)
          } catch (error) {
            if (!(error instanceof AppError)) throw error
          }
          const wasDeleted = step.kind === "delete" && seen.has(step.path)
          if (expected === undefined) {
            // Deleting once more is no error.
            expect(planned === undefined || (wasDeleted && planned.changed.length === 0)).toBe(true)
            continue
          }
          for (const path of expected.keys()) seen.add(path)
          model = expected
          tree = withEnds(tree, planned)
          expect(pathsOf(tree)).toEqual(
            [...model]
              .sort(([left], [right]) => (left < right ? -1 : 1))
              .map(([path, text]) => (text === undefined ? `${path}/` : path)),
          )
          expect(new Set(tree.files.map(({ fileId }) => fileId)).size).toBe(tree.files.length)
          for (const { path } of tree.files)
            if (toParentPath(path) !== "")
              expect(tree.find(toParentPath(path))?.type).toBe("directory")
        }
      }),
      { seed: 20260701, numRuns: 500 },
    )
  })
})

/** The tree after a planned change, with the paths that have ended. */
function withEnds(tree: Tree, planned: PlannedTree | undefined): Tree {
  const states = new Map<string, PathState>(tree.states.map((state) => [state.path, state]))
  for (const { path, fileId, type, content, origin } of planned?.changed ?? []) {
    const bytes = (content ?? origin)?.bytes ?? 0
    states.set(path, { path, fileId, type, bytes, since: 1, updatedAt: 1 })
  }
  return createTree([...states.values()])
}
