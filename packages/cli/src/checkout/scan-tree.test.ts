import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { CliError } from "../cli-error.ts"
import { createTreeScanner, type TreeScan } from "./scan-tree.ts"

let folder: string
const put = (path: string, text: string | Uint8Array) => writeFileSync(join(folder, path), text)
/** So long that nothing comes to rest while the test lasts. */
const restlessMs = 3_600_000
/** A user without rights. */
const nobody = 65_534

/** Works with a subfolder of that mode, which has one file. Root may read everything. */
function withMode(name: string, mode: number, work: () => void): void {
  mkdirSync(join(folder, name))
  put(`${name}/a.ts`, "1")
  chmodSync(folder, 0o755)
  chmodSync(join(folder, name), mode)
  const isRoot = process.geteuid?.() === 0
  if (isRoot) process.seteuid?.(nobody)
  try {
    work()
  } finally {
    if (isRoot) process.seteuid?.(0)
    chmodSync(join(folder, name), 0o755)
  }
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hamlet-scan-"))
})
afterEach(() => rmSync(folder, { recursive: true }))

const names = ({ files }: TreeScan) => [...files.keys()]

describe("createTreeScanner", () => {
  test("finds the files of a val, also in folders, and nothing that is ignored", () => {
    for (const path of ["in", "node_modules", ".git", "other", "other/.hamlet"])
      mkdirSync(join(folder, path))
    for (const path of ["a.ts", "b.md", "in/c.ts", ".d"]) put(path, "1")
    for (const path of ["a.conflict-1.ts", "node_modules/g.ts", ".git/h.ts", "other/i.ts", "a.ts~"])
      put(path, "1")
    const scan = createTreeScanner(folder, 0).scan([])
    expect([names(scan), [...scan.blocked], scan.isUnsettled]).toEqual([
      [".d", "a.ts", "b.md", "in/c.ts"],
      [["other", expect.stringContaining("it is the folder of another val")]],
      false,
    ])
  })

  test("reports why files cannot be saved, and reads nothing outside the folder", () => {
    put("binary.ts", new Uint8Array([0xff, 0xfe, 0]))
    put("large.ts", "x".repeat(4_194_305))
    put("no name.ts", "1")
    symlinkSync("/etc/hostname", join(folder, "link.ts"))
    symlinkSync("/etc", join(folder, "linked"))
    const { files, blocked } = createTreeScanner(folder, 0).scan([])
    expect(files.size).toBe(0)
    expect(Object.fromEntries(blocked)).toEqual({
      "binary.ts": expect.stringContaining("not UTF-8 text"),
      "large.ts": expect.stringContaining("larger than"),
      "no name.ts": expect.stringContaining("the path must contain only"),
      "link.ts": expect.stringContaining("is a link"),
      linked: expect.stringContaining("is a link"),
    })
  })

  test("waits for a file that was just written or just deleted", () => {
    put("a.ts", "1")
    const scan = createTreeScanner(folder, restlessMs).scan(["gone.ts"])
    expect([names(scan), [...scan.blocked], [...scan.missing], scan.isUnsettled]).toEqual([
      [],
      [
        ["a.ts", undefined],
        ["gone.ts", undefined],
      ],
      [],
      true,
    ])
  })

  test("reports no file as missing while another is being written", () => {
    put("a.ts", "1")
    const scanner = createTreeScanner(folder, 0)
    expect([...scanner.scan(["gone.ts"]).missing]).toEqual(["gone.ts"])
    expect([...createTreeScanner(folder, restlessMs).scan(["gone.ts"]).missing]).toEqual([])
  })

  test("detects each change of a known file, also with the same length", () => {
    const scanner = createTreeScanner(folder, 0)
    const hashOf = () => scanner.scan([]).files.get("a.ts")?.hash
    put("a.ts", "1")
    const hashes = [hashOf(), hashOf()]
    put("a.ts", "2")
    hashes.push(hashOf())
    appendFileSync(join(folder, "a.ts"), "3")
    hashes.push(hashOf())
    put("b.tmp", "4")
    renameSync(join(folder, "b.tmp"), join(folder, "a.ts"))
    hashes.push(hashOf())
    expect(new Set(hashes).size).toBe(4)
    expect(hashes[0]).toBe(hashes[1] as string)
  })

  test("fails for a missing folder instead of reporting all files as deleted", () => {
    expect(() => createTreeScanner(join(folder, "gone"), 0).scan(["a.ts"])).toThrow(CliError)
  })

  test("fails for a subfolder that may not be read: its files are not deleted", () => {
    withMode("in", 0, () =>
      expect(() => createTreeScanner(folder, 0).scan(["in/a.ts"])).toThrow(CliError),
    )
  })

  test("blocks the files of a subfolder that may only be listed", () => {
    withMode("in", 0o444, () => {
      const scan = createTreeScanner(folder, 0).scan(["in/a.ts"])
      expect([names(scan), [...scan.missing], scan.blocked.get("in/a.ts")]).toEqual([
        [],
        [],
        expect.stringContaining('Cannot save "in/a.ts": '),
      ])
    })
  })
})
