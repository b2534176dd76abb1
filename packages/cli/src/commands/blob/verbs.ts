import type { Output, StorageClient } from "@hamlet/contract/client"
import { defineCommand, type Verbs } from "../../command.ts"
import { readBytes } from "../../files/val-file.ts"
import { limits } from "../../limits.ts"
import { findStorage, ofVal } from "../../names/find-storage.ts"
import { confirm, confirmOption, defineList, listOptions } from "../../shapes.ts"
import { toSize } from "../../terminal/progress-line.ts"
import { readInputBytes } from "../../terminal/read-input.ts"

export const verbs: Verbs = {
  list: defineList({
    summary: "List your blobs",
    description: "Sorted by key.",
    examples: [
      ["hamlet blob list", "list your blobs"],
      ["hamlet blob list photos/ --all", "all keys that start with photos/"],
      ["hamlet blob list --val blog", "list the blobs that one val has of its own"],
    ],
    takes: { "[prefix]": "prefix of the keys", ...listOptions, ...ofVal },
    items: async (session, { prefix = "", val }) =>
      listBlobs(await findStorage(session, val), prefix),
    empty: "No blobs",
    columns: [
      { title: "key", value: ({ key }) => key, paint: (colour) => colour.bold, isWhole: true },
      { title: "size", value: ({ size }) => size, human: ({ size }) => toSize(size) },
      { title: "modified", value: ({ lastModified }) => lastModified, isTime: true },
    ],
  }),
  get: { summary: "Download a blob", load: () => import("./get.ts") },
  put: defineCommand({
    summary: "Upload a blob",
    description: "Reads standard input if you name no file. Replaces a blob with the same key.",
    examples: [
      ["hamlet blob put photos/cat.jpg cat.jpg", "upload a file"],
      ["date | hamlet blob put last-backup", "upload the output of a program"],
    ],
    takes: { "<key>": "key of the blob", "[file]": "file to upload", ...ofVal },
    async run({ connect, output }, { key, file, val }) {
      const bytesMax = limits.blobBytesMax
      const content =
        file === undefined ? await readInputBytes(bytesMax) : readBytes(file, bytesMax)
      const storage = await findStorage(await connect(), val)
      await storage.putBlob({ key, content })
      const size = content.length
      output.print({ json: { key, size }, plain: key, human: `Stored ${key}, ${toSize(size)}` })
    },
  }),
  rm: defineCommand({
    summary: "Delete blobs",
    examples: [
      ["hamlet blob rm notes.txt", "delete a blob after confirmation"],
      ["hamlet blob rm a.txt b.txt --yes", "delete several without confirmation"],
    ],
    takes: { "<keys...>": "keys of the blobs", ...confirmOption, ...ofVal },
    async run({ connect, output }, { keys, yes, val }) {
      const storage = await findStorage(await connect(), val)
      await confirm(
        keys.length === 1 ? `Delete the blob ${keys[0]}?` : `Delete ${keys.length} blobs?`,
        { yes },
      )
      for (const key of keys) {
        await storage.deleteBlob({ key })
        output.print({ json: { key, deleted: true }, plain: key, human: `Deleted ${key}` })
      }
    },
  }),
}

/** Reads page after page: this list has no links, and continues after a key. */
async function* listBlobs(
  storage: StorageClient,
  prefix: string,
): AsyncGenerator<Output<"listBlobs">[number]> {
  const limit = limits.blobItemsMax
  for (let after: string | undefined; ; ) {
    const blobs: Output<"listBlobs"> = await storage.listBlobs({ prefix, limit, after })
    yield* blobs
    if (blobs.length < limit) return
    after = blobs.at(-1)?.key
  }
}
