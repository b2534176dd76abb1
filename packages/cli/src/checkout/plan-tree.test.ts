import { describe, expect, test } from "bun:test"
import type { BaseFile } from "./checkout-state.ts"
import { planTree } from "./plan-tree.ts"

/** A file with an id and a text; the same text has the same hash. */
const file = (id: string, hash: string, version = 1): BaseFile => ({
  id,
  hash,
  version,
  type: "script",
})

interface Sides {
  readonly base?: Readonly<Record<string, BaseFile>>
  readonly here?: Readonly<Record<string, string>>
  readonly theirs?: Readonly<Record<string, BaseFile>>
  readonly blocked?: readonly string[]
}

function plan({ base = {}, here = {}, theirs = {}, blocked = [] }: Sides) {
  const missing = Object.keys(base).filter((path) => !(path in here) && !blocked.includes(path))
  const { steps, problems } = planTree({
    base: new Map(Object.entries(base)),
    scan: {
      files: new Map(Object.entries(here).map(([path, hash]) => [path, { hash }])),
      blocked: new Map(blocked.map((path) => [path, undefined])),
      missing: new Set(missing),
    },
    remote: { files: new Map(Object.entries(theirs)) },
  })
  const shown = steps.map((step) => [
    step.kind,
    step.path,
    ...("newPath" in step && step.newPath !== undefined ? [step.newPath] : []),
  ])
  return problems.size === 0 ? shown : [...shown, ["problem", ...problems.keys()]]
}

const a = file("1", "A")
const changed = file("1", "B", 2)

describe("planTree", () => {
  const table: readonly (readonly [title: string, sides: Sides, steps: readonly string[][]])[] = [
    ["a new file of theirs", { theirs: { a } }, [["write", "a"]]],
    ["a new file", { here: { a: "A" } }, [["create", "a"]]],
    ["the same new file", { here: { a: "A" }, theirs: { a } }, [["note", "a"]]],
    ["different new files", { here: { a: "X" }, theirs: { a } }, [["conflict", "a"]]],
    ["nothing", { base: { a }, here: { a: "A" }, theirs: { a } }, []],
    ["their change", { base: { a }, here: { a: "A" }, theirs: { a: changed } }, [["write", "a"]]],
    ["our change", { base: { a }, here: { a: "X" }, theirs: { a } }, [["save", "a"]]],
    ["the same change", { base: { a }, here: { a: "B" }, theirs: { a: changed } }, [["note", "a"]]],
    ["two changes", { base: { a }, here: { a: "X" }, theirs: { a: changed } }, [["conflict", "a"]]],
    ["our deletion", { base: { a }, theirs: { a } }, [["delete", "a"]]],
    ["our deletion, their change", { base: { a }, theirs: { a: changed } }, [["write", "a"]]],
    ["their deletion", { base: { a }, here: { a: "A" } }, [["trash", "a"]]],
    ["their deletion, our change", { base: { a }, here: { a: "X" } }, [["rescue", "a"]]],
    ["two deletions", { base: { a } }, [["forget", "a"]]],
    ["our move", { base: { a }, here: { b: "A" }, theirs: { a } }, [["move", "a", "b"]]],
    [
      "our move, their change",
      { base: { a }, here: { b: "A" }, theirs: { a: changed } },
      [["write", "a"]],
    ],
    [
      "their move",
      { base: { a }, here: { a: "A" }, theirs: { b: { ...a, version: 2 } } },
      [["write", "b"]],
    ],
    [
      "their move, our change",
      { base: { a }, here: { a: "X" }, theirs: { b: { ...a, version: 2 } } },
      [["carry", "b"]],
    ],
    [
      "the same move",
      { base: { a }, here: { b: "A" }, theirs: { b: { ...a, version: 2 } } },
      [["note", "b"]],
    ],
    [
      "the same move and the same change",
      { base: { a }, here: { b: "B" }, theirs: { b: changed } },
      [["note", "b"]],
    ],
    [
      "the same move, our change",
      { base: { a }, here: { b: "X" }, theirs: { b: { ...a, version: 2 } } },
      [
        ["note", "b"],
        ["save", "b"],
      ],
    ],
    [
      "the same move, two changes",
      { base: { a }, here: { b: "X" }, theirs: { b: changed } },
      [["conflict", "b"]],
    ],
    [
      "a file that was made anew",
      { base: { a }, here: { a: "A" }, theirs: { a: file("2", "A", 2) } },
      [["note", "a"]],
    ],
    [
      "two files with one text, which cannot be told apart",
      { base: { a, b: file("2", "A") }, here: { c: "A" }, theirs: { a, b: file("2", "A") } },
      [
        ["delete", "a"],
        ["delete", "b"],
        ["create", "c"],
      ],
    ],
    ["a file that is being written", { base: { a }, blocked: ["a"], theirs: { a: changed } }, []],
    ["names that differ in case", { here: { A: "X" }, theirs: { a } }, [["problem", "a"]]],
    [
      "their move to the place of our new file",
      { base: { a }, here: { a: "A", b: "X" }, theirs: { b: { ...a, version: 2 } } },
      [["problem", "b"]],
    ],
  ]
  for (const [title, sides, steps] of table)
    test(title, () => expect(plan(sides)).toEqual(steps as string[][]))
})
