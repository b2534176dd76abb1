import { describe, expect, test } from "bun:test"
import type { FileState } from "../../files/folder-state.ts"
import { type Decision, decide, type Sides } from "./decide.ts"

const base = {
  id: "1",
  version: 3,
  hash: "h",
  codeHash: "c",
  owner: "me",
  name: "hello",
  privacy: "private",
  type: "script",
} as const
const file = {
  hash: "h",
  codeHash: "c",
  name: "hello",
  privacy: "private",
  type: "script",
} as const
const val = {
  version: 3,
  codeHash: "c",
  name: "hello",
  privacy: "private",
  type: "script",
} as const
const none = undefined

const edited = { ...file, hash: "h2", codeHash: "c2" }
const saved = { ...val, version: 4, codeHash: "c4" }
const vague: FileState = { id: "1", version: 3, hash: "h" }

const table: readonly (readonly [
  title: string,
  sides: Sides,
  decision: Decision["kind"],
  fields?: readonly string[],
])[] = [
  ["a new val", { base: none, file: none, val }, "write"],
  ["a new file", { base: none, file, val: none }, "create"],
  ["a new file and a new val that are the same", { base: none, file, val }, "note"],
  [
    "a new file that says nothing but the code",
    { base: none, file: { ...file, privacy: none, type: none }, val },
    "note",
  ],
  ["a new file and a new val with other code", { base: none, file: edited, val }, "conflict"],
  [
    "a new file and a new val of another privacy",
    { base: none, file: { ...file, privacy: "public" }, val },
    "conflict",
  ],
  ["nothing", { base, file, val }, "note"],
  ["new code on the server", { base, file, val: saved }, "write"],
  [
    "the version before on the server",
    { base, file, val: { ...val, version: 2, codeHash: "c1" } },
    "write",
  ],
  ["the same code as another version", { base, file, val: { ...val, version: 5 } }, "note"],
  ["another name on the server", { base, file, val: { ...val, name: "greet" } }, "write"],
  [
    "another case of the name on the server",
    { base, file, val: { ...val, name: "Hello" } },
    "write",
  ],
  ["another privacy on the server", { base, file, val: { ...val, privacy: "public" } }, "write"],
  ["another type on the server", { base, file, val: { ...val, type: "http" } }, "write"],
  [
    "a privacy that the file does not speak of",
    { base, file: { ...file, privacy: none }, val: { ...val, privacy: "public" } },
    "note",
  ],
  ["new code in the file", { base, file: edited, val }, "save", ["codeHash"]],
  ["another name in the file", { base, file: { ...file, name: "greet" }, val }, "save", ["name"]],
  [
    "all of it in the file",
    { base, file: { ...edited, name: "a", privacy: "public", type: "http" }, val },
    "save",
    ["codeHash", "name", "privacy", "type"],
  ],
  [
    "a first line that is gone",
    { base, file: { ...file, hash: "h3", privacy: none, type: none }, val },
    "note",
  ],
  [
    "the same code on both sides",
    { base, file: { ...edited, codeHash: "c4" }, val: saved },
    "note",
  ],
  ["other code on both sides", { base, file: edited, val: saved }, "conflict"],
  [
    "code here and privacy there",
    { base, file: edited, val: { ...val, privacy: "public" } },
    "save",
    ["codeHash"],
  ],
  [
    "privacy here and code there",
    { base, file: { ...file, privacy: "public" }, val: saved },
    "save",
    ["privacy"],
  ],
  [
    "another name on both sides",
    { base, file: { ...file, name: "a" }, val: { ...val, name: "b" } },
    "conflict",
  ],
  [
    "the same name on both sides",
    { base, file: { ...file, name: "a" }, val: { ...val, name: "a" } },
    "note",
  ],
  ["a file that is gone", { base, file: none, val }, "leave"],
  [
    "a file that has been gone for long",
    { base: { ...base, isLeft: true }, file: none, val },
    "nothing",
  ],
  ["a file that is gone and new code", { base, file: none, val: saved }, "write"],
  [
    "a file that has been gone for long and another privacy",
    { base: { ...base, isLeft: true }, file: none, val: { ...val, privacy: "public" } },
    "write",
  ],
  ["a file that is gone, in an old note", { base: vague, file: none, val }, "leave"],
  ["a val that is gone", { base, file, val: none }, "trash"],
  ["a val that is gone and new code", { base, file: edited, val: none }, "rescue"],
  [
    "a val that is gone and another first line",
    { base, file: { ...file, hash: "h3", privacy: "public" }, val: none },
    "rescue",
  ],
  ["both gone", { base, file: none, val: none }, "forget"],
  ["an old note and the same on both sides", { base: vague, file, val }, "note"],
  [
    "an old note and something else",
    { base: vague, file: { ...file, privacy: "public" }, val },
    "conflict",
  ],
]

describe("decide", () => {
  for (const [title, sides, kind, fields] of table)
    test(`${title}: ${kind}`, () =>
      expect(decide(sides, false) as object).toEqual({ kind, ...(fields && { fields }) }))

  test("with --delete, a deleted file deletes its val, and nothing else differs", () => {
    for (const [, sides, kind, fields] of table)
      expect(decide(sides, true) as object).toEqual({
        kind: kind === "leave" ? "delete" : kind,
        ...(fields && { fields }),
      })
  })
})
