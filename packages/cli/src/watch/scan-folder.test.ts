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
import { createScanner, type Scan } from "./scan-folder.ts"

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

const names = ({ files }: Scan) => [...files.keys()]

describe("createScanner", () => {
  test("finds files that can be vals, also in folders, and nothing else", () => {
    for (const path of ["in", "node_modules", ".git", "other", "other/.hamlet"])
      mkdirSync(join(folder, path))
    for (const path of ["a.ts", "b.tsx", "in/c.ts"]) put(path, "1")
    for (const path of [
      "d.d.ts",
      "e.js",
      ".f.ts",
      "a.conflict-1.ts",
      "node_modules/g.ts",
      ".git/h.ts",
      "other/i.ts",
      "a.ts~",
    ])
      put(path, "1")
    const scan = createScanner(folder, 0).scan([])
    expect([names(scan), [...scan.blocked], scan.isUnsettled]).toEqual([
      ["a.ts", "b.tsx", "in/c.ts"],
      [],
      false,
    ])
  })

  test("reports why files cannot be vals, and reads nothing outside the folder", () => {
    put("bad.ts", "// hamlet: privacy=secret\n1")
    put("binary.ts", new Uint8Array([0xff, 0xfe, 0]))
    put("empty.ts", "")
    put("line.ts", "// hamlet: name=line\n")
    put("no+name.ts", "1")
    put("large.ts", "x".repeat(4_194_305))
    mkdirSync(join(folder, "folder.ts"))
    symlinkSync("/etc/hostname", join(folder, "link.ts"))
    symlinkSync("/etc", join(folder, "linked"))
    const { files, blocked } = createScanner(folder, 0).scan([])
    expect(files.size).toBe(0)
    const reasons = [
      "not a valid privacy",
      "not UTF-8 text",
      "is empty",
      "larger than",
      "is empty",
      "is a link",
      "is not a valid name",
    ]
    const paths = [
      "bad.ts",
      "binary.ts",
      "empty.ts",
      "large.ts",
      "line.ts",
      "link.ts",
      "no+name.ts",
    ]
    expect([...blocked]).toEqual(
      paths.map((path, index) => [path, expect.stringContaining(reasons[index] ?? "")]),
    )
  })

  test("waits for a file that was just written or just deleted", () => {
    put("a.ts", "1")
    const scan = createScanner(folder, restlessMs).scan(["gone.ts"])
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
    const scanner = createScanner(folder, 0)
    expect([...scanner.scan(["gone.ts"]).missing]).toEqual(["gone.ts"])
    expect([...createScanner(folder, restlessMs).scan(["gone.ts"]).missing]).toEqual([])
  })

  test("detects each change of a known file, also with the same length", () => {
    const scanner = createScanner(folder, 0)
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

  test("reads readmes, never as vals, and waits for one that was just deleted", () => {
    const scanner = createScanner(folder, 0)
    for (const path of ["a.ts", "a.ts.README.md", "a.ts.README.conflict-1.md", "README.md"])
      put(path, "1")
    put("b.ts.README.md", new Uint8Array([0xff]))
    const first = scanner.scan([])
    expect([names(first), [...first.blocked], [...first.readmes]]).toEqual([
      ["a.ts"],
      [["b.ts.README.md", expect.stringContaining("not UTF-8 text")]],
      [["a.ts.README.md", expect.any(String)]],
    ])
    for (const path of ["a.ts.README.md", "b.ts.README.md"]) rmSync(join(folder, path))
    const second = scanner.scan([])
    expect([[...second.blocked], second.isUnsettled]).toEqual([
      [
        ["a.ts.README.md", undefined],
        ["b.ts.README.md", undefined],
      ],
      true,
    ])
    const third = scanner.scan([])
    expect([third.blocked.size, third.readmes.size, third.isUnsettled]).toEqual([0, 0, false])
  })

  test("fails for a missing folder instead of reporting all files as deleted", () => {
    expect(() => createScanner(join(folder, "gone"), 0).scan(["a.ts"])).toThrow(CliError)
  })

  test("fails for a subfolder that may not be read: its files are not deleted", () => {
    withMode("in", 0, () =>
      expect(() => createScanner(folder, 0).scan(["in/a.ts"])).toThrow(CliError),
    )
  })

  test("blocks the files of a subfolder that may only be listed", () => {
    withMode("in", 0o444, () => {
      const scan = createScanner(folder, 0).scan(["in/a.ts"])
      expect([names(scan), [...scan.missing], scan.blocked.get("in/a.ts")]).toEqual([
        [],
        [],
        expect.stringContaining('Cannot save "in/a.ts": '),
      ])
    })
  })
})
