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
])("packFiles refuses the link %s to %s", (path, target) => {
  expect(packFiles(toList("a/one.txt", [[path, target]]), content)).toBeUndefined()
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
