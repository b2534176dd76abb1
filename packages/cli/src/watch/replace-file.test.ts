import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { hashText } from "../files/val-file.ts"
import {
  makeFile,
  moveFile,
  moveToTrash,
  replaceFile,
  sweepFolder,
  writeConflictFile,
  writeToTrash,
} from "./replace-file.ts"

let folder: string
const put = (path: string, text: string) => writeFileSync(join(folder, path), text)
const read = (path: string) => readFileSync(join(folder, path), "utf8")
const never = () => {
  throw new Error("nothing was late")
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hamlet-replace-"))
  mkdirSync(join(folder, ".hamlet"))
})
afterEach(() => rmSync(folder, { recursive: true }))

describe("makeFile, replaceFile, moveFile", () => {
  test("create a file only if it does not exist", () => {
    expect([
      makeFile(folder, "in/a.ts", "1"),
      makeFile(folder, "in/a.ts", "2"),
      read("in/a.ts"),
    ]).toEqual(["done", "raced", "1"])
    expect(readdirSync(join(folder, ".hamlet"))).toEqual([])
  })

  test("replace a file only if it is unchanged, and keep its mode", () => {
    put("a.ts", "1")
    chmodSync(join(folder, "a.ts"), 0o600)
    expect(replaceFile(folder, "a.ts", hashText("0"), "2", never)).toBe("raced")
    expect(replaceFile(folder, "gone.ts", hashText("0"), "2", never)).toBe("raced")
    expect(replaceFile(folder, "a.ts", hashText("1"), "2", never)).toBe("done")
    expect([
      read("a.ts"),
      statSync(join(folder, "a.ts")).mode & 0o777,
      readdirSync(join(folder, ".hamlet")),
    ]).toEqual(["2", 0o600, []])
  })

  test("move a file only to a free path, and only if it is unchanged", () => {
    put("a.ts", "1")
    put("b.ts", "2")
    expect(moveFile(folder, "a.ts", "b.ts", hashText("1"))).toBe("raced")
    expect(moveFile(folder, "a.ts", "c.ts", hashText("0"))).toBe("raced")
    expect(moveFile(folder, "a.ts", "c.ts", hashText("1"))).toBe("done")
    expect([read("b.ts"), read("c.ts"), readdirSync(folder).sort()]).toEqual([
      "2",
      "1",
      [".hamlet", "b.ts", "c.ts"],
    ])
  })
})

describe("keepConflict, throwAway, moveToTrash", () => {
  test("never write over anything, and keep a text once", () => {
    const conflicts = ["1", "2", "1", "2", "3"].map((text) =>
      writeConflictFile(folder, "in/a.tsx", text),
    )
    expect(conflicts).toEqual([1, 2, 1, 2, 3].map((n) => `in/a.conflict-${n}.tsx`))
    const thrown = [writeToTrash(folder, "a.ts", "1"), writeToTrash(folder, "a.ts", "1")]
    put("a.ts", "2")
    thrown.push(moveToTrash(folder, "a.ts"))
    expect(thrown.map(read)).toEqual(["1", "1", "2"])
    expect(new Set(thrown).size).toBe(3)
  })
})

test("sweepFolder keeps texts that a killed watcher was replacing", () => {
  put(".hamlet/12-1.old", "text")
  put(".hamlet/12-1.new", "never there")
  put(".hamlet/state.json", "{}")
  sweepFolder(folder)
  expect(readdirSync(join(folder, ".hamlet")).sort()).toEqual(["state.json", "trash"])
  expect(readdirSync(join(folder, ".hamlet", "trash"))).toHaveLength(1)
})
