import { expect, test } from "bun:test"
import { compressArchive, type FileList, packFiles, readArchive } from "./file-archive.ts"

const content = Buffer.from("onetwo")

function toList(path: string, links: FileList["links"] = []): FileList {
  return {
    files: [
      [path, 3],
      ["b/two.txt", 3],
    ],
    links,
  }
}

test("readArchive returns what packFiles has packed", async () => {
  const list = toList("a/one.txt", [["a/link", "../b"]])
  const archive = packFiles(list, content)
  const read = await readArchive(await compressArchive(archive ?? Buffer.of()))
  expect(read.list).toEqual(list)
  expect(read.contents.map((bytes) => Buffer.from(bytes).toString())).toEqual(["one", "two"])
})

test.each([
  "",
  "/etc/passwd",
  "../one.txt",
  "a/../../one.txt",
  "a/./one.txt",
  "a//one.txt",
  "a/",
  "a\0b",
  ".",
  "..",
  "a/..",
  "é".repeat(128),
  "x".repeat(256),
  "b/two.txt",
  `${"a/".repeat(600)}one.txt`,
])("packFiles and readArchive refuse the path %j", async (path) => {
  expect(packFiles(toList(path), content)).toBeUndefined()
  const forged = Buffer.concat([Buffer.from(`${JSON.stringify(toList(path))}\n`), content])
  await expect(readArchive(await compressArchive(forged))).rejects.toThrow("the archive is invalid")
})

test.each([
  ["a/link", "../../outside"],
  ["link", ".."],
  ["a/link", "/etc"],
  ["../link", "b"],
  // "deep/a/b/up" leads to "deep", so this one would lead to the parent of the folder.
  ["link", "deep/a/b/up/../.."],
  ["a/link", "../b/"],
])("packFiles refuses the link %s to %s", (path, target) => {
  expect(packFiles(toList("a/one.txt", [[path, target]]), content)).toBeUndefined()
})

test("packFiles refuses a list of more than 2 MB, readArchive too", async () => {
  const files = Array.from({ length: 2_500 }, (_, index) => [`${index}${"/abc".repeat(240)}`, 0])
  const list = { files: files as unknown as FileList["files"], links: [] }
  expect(packFiles(list, Buffer.of())).toBeUndefined()
  const forged = Buffer.from(`${JSON.stringify(list)}\n`)
  await expect(readArchive(await compressArchive(forged))).rejects.toThrow()
})

test("packFiles accepts names with dots, and long paths of short names", () => {
  for (const path of [".a", "..a", "a./b..", "...", `${"é".repeat(100)}/${"é".repeat(100)}`])
    expect(packFiles(toList(path), content)).toBeDefined()
})

test("packFiles refuses sizes that do not fit", () => {
  expect(packFiles(toList("a/one.txt"), Buffer.from("onetw"))).toBeUndefined()
  expect(
    packFiles(
      {
        files: [
          ["a", 7],
          ["b", -1],
        ],
        links: [],
      },
      content,
    ),
  ).toBeUndefined()
})
