import { describe, expect, test } from "bun:test"
import type { FileState } from "../../files/folder-state.ts"
import type { ValState } from "../remote-vals.ts"
import type { FoundFile } from "../scan-folder.ts"
import { matchSides } from "./match-sides.ts"

const owner = "me"
const base = (id: string, name = id, more: Partial<FileState> = {}): FileState => ({
  id,
  version: 1,
  hash: `text of ${id}`,
  codeHash: `code of ${id}`,
  owner,
  name,
  privacy: "private",
  type: "script",
  ...more,
})
const file = (path: string, of: string, said?: string): FoundFile => ({
  path,
  front: said === undefined ? {} : { name: said },
  name: said ?? path.replace(/^.*\/|\.tsx?$/g, ""),
  hash: `text of ${of}`,
  codeHash: `code of ${of}`,
  privacy: undefined,
  type: undefined,
})
const val = (id: string, name = id): ValState => ({
  id,
  name,
  version: 1,
  privacy: "private",
  type: "script",
  updatedAt: "",
})

interface Scene {
  readonly bases?: Readonly<Record<string, FileState>>
  readonly files?: readonly FoundFile[]
  readonly blocked?: Readonly<Record<string, string | undefined>>
  readonly vals?: readonly ValState[]
  /** Paths that have only just gone. */
  readonly restless?: readonly string[]
  readonly identities?: Readonly<Record<string, string>>
}

/** What was put together, in words: the base's id, the file's path and name, the val's id. */
function match({
  bases = {},
  files = [],
  blocked = {},
  vals = [],
  restless = [],
  identities = {},
}: Scene) {
  const found = new Map(files.map((one) => [one.path, one]))
  const stopped = new Map(Object.entries(blocked))
  const missing = Object.keys(bases).filter(
    (path) => !found.has(path) && !stopped.has(path) && !restless.includes(path),
  )
  const scan = {
    files: found,
    blocked: stopped,
    missing: new Set(missing),
    identities: new Map(Object.entries(identities)),
    readmes: new Map(),
    mark: "",
    isUnsettled: false,
  }
  const { matches, problems, stale } = matchSides({
    bases: new Map(Object.entries(bases)),
    scan,
    vals,
    owner,
  })
  return {
    matches: matches.map((one) =>
      [
        one.base?.id ?? "–",
        one.file ? `${one.file.path} ${one.file.name}` : "–",
        one.val?.id ?? "–",
      ].join(" | "),
    ),
    problems: [...problems.keys()],
    stale,
  }
}

describe("matchSides", () => {
  const table: readonly (readonly [
    title: string,
    scene: Scene,
    matches: readonly string[],
    problems?: readonly string[],
  ])[] = [
    [
      "a file with its base and its val",
      { bases: { "a.ts": base("a") }, files: [file("a.ts", "a")], vals: [val("a")] },
      ["a | a.ts a | a"],
    ],
    [
      "a val by its id, whatever it is called now",
      { bases: { "a.ts": base("a") }, files: [file("a.ts", "a")], vals: [val("a", "z")] },
      ["a | a.ts a | a"],
    ],
    [
      "a new file with the val of its name, in whatever case",
      { files: [file("Hello.ts", "x")], vals: [val("1", "hello")] },
      ["– | Hello.ts Hello | 1"],
    ],
    [
      "what is new on one side with nothing",
      { files: [file("a.ts", "a")], vals: [val("b")] },
      ["– | a.ts a | –", "– | – | b"],
    ],
    [
      "a renamed file by its text, and with its name",
      { bases: { "a.ts": base("a") }, files: [file("b.ts", "a")], vals: [val("a")] },
      ["a | b.ts b | a"],
    ],
    [
      "a renamed file that says its old name",
      { bases: { "a.ts": base("a") }, files: [file("b.ts", "a", "a")], vals: [val("a")] },
      ["a | b.ts b | a"],
    ],
    [
      "a renamed and edited file by the name that it says",
      { bases: { "a.ts": base("a") }, files: [file("b.ts", "x", "a")], vals: [val("a")] },
      ["a | b.ts b | a"],
    ],
    [
      "a renamed and edited file that says nothing, if the file system knows it",
      {
        bases: { "a.ts": base("a") },
        files: [file("b.ts", "x")],
        vals: [val("a")],
        identities: { "a.ts": "7", "b.ts": "7" },
      },
      ["a | b.ts b | a"],
    ],
    [
      "a file that had a name of its own",
      { bases: { "my-page.ts": base("a") }, files: [file("b.ts", "a", "a")], vals: [val("a")] },
      ["a | b.ts a | a"],
    ],
    [
      "a renamed file whose new name no val can have",
      { bases: { "a.ts": base("a") }, files: [file("a+b.ts", "a", "a")], vals: [val("a")] },
      ["a | a+b.ts a | a"],
    ],
    [
      "a file that is in another folder now",
      { bases: { "a.ts": base("a") }, files: [file("in/a.ts", "x")], vals: [val("a")] },
      ["a | in/a.ts a | a"],
    ],
    [
      "two that could be meant with neither",
      {
        bases: {
          "a.ts": base("a"),
          "b.ts": base("b", "b", { hash: "text of a", codeHash: "code of a" }),
        },
        files: [file("c.ts", "a")],
        vals: [val("a"), val("b")],
      },
      ["a | – | a", "b | – | b", "– | c.ts c | –"],
    ],
    [
      "nothing with a file that has only just gone",
      { bases: { "a.ts": base("a") }, restless: ["a.ts"], vals: [val("a")] },
      [],
    ],
    [
      "nothing with a file that cannot be read",
      { bases: { "a.ts": base("a") }, blocked: { "a.ts": "binary" }, vals: [val("a")] },
      [],
      ["a.ts"],
    ],
    [
      "nothing with a new file that cannot be read, nor with a val of its name",
      { blocked: { "a.ts": "binary" }, vals: [val("1", "A")] },
      [],
      ["a.ts"],
    ],
    [
      "a copy of a file with nothing",
      {
        bases: { "a.ts": base("a") },
        files: [file("a.ts", "a"), file("copy.ts", "a", "a")],
        vals: [val("a")],
      },
      ["a | a.ts a | a"],
      ["copy.ts"],
    ],
    [
      "two new files of one name with nothing",
      { files: [file("a.ts", "x"), file("b.ts", "y", "A")], vals: [val("1", "a")] },
      [],
      ["a.ts", "b.ts"],
    ],
    [
      "a file of somebody else's val with nothing",
      {
        bases: { "a.ts": base("a", "a", { owner: "you" }) },
        files: [file("a.ts", "a")],
        vals: [val("1", "b")],
      },
      ["– | – | 1"],
      ["a.ts"],
    ],
  ]
  for (const [title, scene, matches, problems = []] of table)
    test(`matches ${title}`, () =>
      expect(match(scene)).toEqual({ matches: [...matches], problems: [...problems], stale: [] }))

  test("keeps one file for each val, and forgets others that are gone", () => {
    const bases = { "a.ts": base("a"), "b.ts": base("a") }
    expect(match({ bases, files: [file("b.ts", "a")], vals: [val("a")] })).toEqual({
      matches: ["a | b.ts b | a"],
      problems: [],
      stale: ["a.ts"],
    })
  })
})
