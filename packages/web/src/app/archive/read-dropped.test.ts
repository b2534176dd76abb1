import { describe, expect, test } from "bun:test"
import { limits } from "@hamlet/contract/limits"
import fc from "fast-check"
import { type Zippable, zipSync } from "fflate"
import { readDropped, takeChosen } from "./dropped.ts"
import { type SelectedFiles, selectFiles, type ValFile } from "./select-files.ts"
import { writeZip } from "./write-zip.ts"

const bytesOf = (text: string) => new TextEncoder().encode(text)
const asArchive = (content: BlobPart) => takeChosen([new File([content], "shop.zip")])

/** What an archive contains, or the message with which it is refused. Other errors are bugs. */
async function readZip(bytes: Uint8Array): Promise<SelectedFiles | string> {
  try {
    return await readDropped(asArchive(new Uint8Array(bytes)))
  } catch (error) {
    const { message } = error as Error
    expect(message).toStartWith("Cannot ")
    return message
  }
}

/** An archive with texts, whose bytes a test then changes. */
const zipOf = (texts: Readonly<Record<string, string>>, options: object = {}) =>
  Buffer.from(
    zipSync(
      Object.fromEntries(
        Object.entries(texts).map(([path, text]) => [path, [bytesOf(text), options]]),
      ) as Zippable,
    ),
  )
const entryStart = "PK\x01\x02"

const problemsOf = (read: SelectedFiles | string) =>
  typeof read === "string"
    ? read
    : Object.fromEntries(read.skipped.map(({ path, problem }) => [path, problem]))
const pathsOf = (read: SelectedFiles | string) =>
  typeof read === "string" ? read : read.files.map(({ path }) => path)

describe("readDropped with an archive", () => {
  test("gives the files that writeZip wrote, with their types, byte for byte", async () => {
    const path = fc.stringMatching(/^[a-z$(-]{1,8}(\/[a-z.]{1,5}x){0,2}\.(tsx|json|md)$/)
    const type = fc.constantFrom("http", "script", "interval", "email", "file")
    const content = fc.oneof(fc.string({ unit: "binary", maxLength: 200 }), fc.string())
    const file = fc.record({ path, type, content: content.filter((it) => !it.includes("\0")) })
    const tree = fc.uniqueArray(file, { selector: (it) => it.path, minLength: 1, maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(tree, async (files) => {
        const wanted = [...(files as ValFile[])].sort((a, b) => (a.path < b.path ? -1 : 1))
        const read = await readDropped(asArchive(writeZip("shop", wanted)))
        expect(read).toEqual({ folder: "shop", files: wanted, skipped: [] })
      }),
      { numRuns: 20 },
    )
  })

  test("takes types from names where the archive has none, and leaves out one folder", async () => {
    const read = await readZip(
      zipOf({
        "shop-main/main.tsx": "1",
        "shop-main/inbox.email.ts": "2",
        "shop-main/data/a.json": "{}",
        "__MACOSX/shop-main/._main.tsx": "x",
      }),
    )
    expect(read).toEqual({
      folder: "shop-main",
      files: [
        { path: "data/a.json", type: "file", content: "{}" },
        { path: "inbox.email.ts", type: "email", content: "2" },
        { path: "main.tsx", type: "script", content: "1" },
      ],
      skipped: [],
    })
    expect(pathsOf(await readZip(zipOf({ "a/x.ts": "", "b.ts": "" })))).toEqual(["a/x.ts", "b.ts"])
  })

  test("leaves out and names what a val cannot have", async () => {
    const read = await readZip(
      zipOf({
        "main.ts": "1",
        "MAIN.ts": "2",
        "cafe\u0301.ts": "3",
        "caf\u00e9.ts": "3",
        "../up.ts": "4",
        "/etc/passwd": "5",
        "a/../b.ts": "6",
        "a\\b.ts": "7",
        "C:\\x.ts": "8",
        "with space.ts": "9",
        "main.ts/inner.ts": "10",
        "photo.png": "11",
        ".env": "KEY=1",
        "nul.txt": "a\0b",
        "long.txt": "x".repeat(limits.codeCharsMax + 1),
        "node_modules/x/index.js": "",
        ".git/config": "",
        "src/.DS_Store": "",
      }),
    )
    expect(pathsOf(read)).toEqual(["MAIN.ts", "main.ts"])
    const names = expect.stringMatching(/^the path must /)
    expect(problemsOf(read)).toEqual({
      "cafe\u0301.ts": names,
      "caf\u00e9.ts": names,
      "../up.ts": names,
      "/etc/passwd": names,
      "a/../b.ts": names,
      "a\\b.ts": names,
      "C:\\x.ts": names,
      "with space.ts": names,
      "main.ts/inner.ts": '"main.ts" is a file',
      "photo.png": "it is not text",
      ".env": "it may contain secrets",
      "nul.txt": "it is not text",
      "long.txt": "it has more than 256,000 characters",
    })
  })

  test("does not take .. or the root for the folder that everything is in", async () => {
    for (const top of ["..", ".", ""])
      expect(pathsOf(await readZip(zipOf({ [`${top}/a.ts`]: "", [`${top}/b.ts`]: "" })))).toEqual(
        [],
      )
  })

  test("leaves out bytes that are not UTF-8, links, encrypted and otherwise packed entries", async () => {
    const bytes = zipSync({ "a.ts": new Uint8Array([0xff, 0xfe]) })
    expect(problemsOf(await readZip(bytes))).toEqual({ "a.ts": "it is not text" })
    const link = zipOf({ "a.ts": "/etc/passwd" }, { os: 3, attrs: (0o120777 << 16) >>> 0 })
    expect(problemsOf(await readZip(link))).toEqual({ "a.ts": "it is a link" })
    const device = zipOf({ "a.ts": "" }, { os: 3, attrs: 0o020666 << 16 })
    expect(problemsOf(await readZip(device))).toEqual({ "a.ts": "it is not a file" })
    const change = async (offset: number, value: number) => {
      const zip = zipOf({ "a.ts": "x" })
      zip.writeUInt16LE(value, zip.indexOf(entryStart) + offset)
      return problemsOf(await readZip(zip))
    }
    expect(await change(8, 1)).toEqual({ "a.ts": "it is encrypted" })
    expect(await change(10, 14)).toEqual({
      "a.ts": "it is compressed in another way than deflate",
    })
  })

  test("refuses an entry that inflates to more or less than it declares, at its limit", async () => {
    const bomb = zipOf({ "bomb.txt": "x".repeat(10_000_000) })
    const at = bomb.indexOf(entryStart)
    const declare = async (bytes: number) => {
      const zip = Buffer.from(bomb)
      zip.writeUInt32LE(bytes, at + 24)
      return await readZip(zip)
    }
    // The size is true: the file is only too long.
    expect(problemsOf(await declare(10_000_000))).toEqual({
      "bomb.txt": "it has more than 256,000 characters",
    })
    for (const bytes of [0, 1, 700_000])
      expect(await declare(bytes)).toBe('Cannot read shop: its entry "bomb.txt" is damaged')
  })

  test("refuses too many files, and too many bytes together, before it reads one", async () => {
    const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [`f${n}.ts`, ""]))
    expect(await readZip(zipOf(many))).toBe("Cannot import 1,001 files: a val has at most 1,000")
    const large = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`${n}.txt`, "x"]))
    const zip = zipOf(large)
    for (let at = zip.indexOf(entryStart); at !== -1; at = zip.indexOf(entryStart, at + 1))
      zip.writeUInt32LE(700_000, at + 24)
    expect(await readZip(zip)).toBe("Cannot import 14.0 MB: a val has at most 10 MB")
  })

  test("refuses an archive with a path twice, in parts, too large, or cut off", async () => {
    const twice = zipOf({ "a.ts": "1", "b.ts": "2" })
    twice.write("a.ts", twice.lastIndexOf("b.ts"))
    expect(await readZip(twice)).toBe('Cannot read shop: it contains "a.ts" twice')
    const end = (offset: number, value: number) => {
      const zip = zipOf({ "a.ts": "1" })
      zip.writeUInt16LE(value, zip.indexOf("PK\x05\x06") + offset)
      return readZip(zip)
    }
    expect(await end(4, 1)).toContain("it is one part of several")
    expect(await end(10, 0xffff)).toContain("zip64")
    expect(await end(14, 0x7fff)).toContain("its directory is larger than")
    expect(await end(12, 0x7f00)).toContain("it is damaged")
    const whole = zipOf({ "a.ts": "1".repeat(500), "b.ts": "2" })
    for (let bytes = 0; bytes < whole.length; bytes += 7)
      expect(await readZip(whole.subarray(0, bytes))).toContain("it is incomplete")
  })

  test("gives the original texts of a damaged archive, or refuses it", async () => {
    const whole = zipOf({ "a.ts": "export default 1\n".repeat(20), "b.txt": "stored" })
    const good = [...(await expectRead(whole)).files.map(({ content }) => content), ""]
    const changes = fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), {
      minLength: 1,
      maxLength: 6,
    })
    await fc.assert(
      fc.asyncProperty(changes, async (all) => {
        const bytes = Buffer.from(whole)
        for (const [at, value] of all) bytes[at] = value
        const read = await readZip(bytes)
        if (typeof read === "string") return
        for (const { content } of read.files) expect(good).toContain(content)
      }),
      { numRuns: 500 },
    )
  })
})

async function expectRead(bytes: Uint8Array): Promise<SelectedFiles> {
  const read = await readZip(bytes)
  if (typeof read === "string") throw new Error(read)
  return read
}

describe("readDropped with chosen files", () => {
  const inFolder = (path: string, text: string) => {
    const file = new File([text], path.slice(path.lastIndexOf("/") + 1))
    Object.defineProperty(file, "webkitRelativePath", { value: path.includes("/") ? path : "" })
    return file
  }

  test("reads the files of a folder without its name, or with it", async () => {
    const chosen = takeChosen([inFolder("my site/a/main.ts", "1"), inFolder("my site/b.md", "#")])
    expect(chosen.name).toBe("my site")
    expect(await readDropped(chosen)).toEqual({
      folder: "my site",
      files: [
        { path: "a/main.ts", type: "script", content: "1" },
        { path: "b.md", type: "file", content: "#" },
      ],
      skipped: [],
    })
    const kept = takeChosen([inFolder("lib/a.ts", "1")])
    expect(pathsOf(await readDropped(kept, { keepsFolder: true }))).toEqual(["lib/a.ts"])
  })

  test("keeps a mark of the byte order, and ends of lines", async () => {
    const text = "\ufeffa\r\nb"
    expect((await readDropped(takeChosen([inFolder("a.txt", text)]))).files).toEqual([
      { path: "a.txt", type: "file", content: text },
    ])
  })
})

test("selectFiles reads nothing that it leaves out", async () => {
  const read = () => Promise.reject(new Error("it was read"))
  const sources = [
    { path: "a.ts", bytes: limits.codeCharsMax * 3 + 1, read },
    { path: "b.png", bytes: 1, read },
    { path: "../c.ts", bytes: 1, read },
    { path: "d.ts", bytes: 1, problem: "it is a link", read },
    { path: "node_modules/e.ts", bytes: 1, read },
  ]
  expect(pathsOf(await selectFiles(sources))).toEqual([])
})
