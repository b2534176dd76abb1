import type { Output } from "@hamlet/contract/client"
import { defineCommand, type Verbs } from "../../command.ts"
import { readBytes } from "../../files/val-file.ts"
import { limits } from "../../limits.ts"
import type { Connection } from "../../servers/connection.ts"
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
    ],
    takes: { "[prefix]": "prefix of the keys", ...listOptions },
    items: (session, { prefix = "" }) => listBlobs(session, prefix),
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
    takes: { "<key>": "key of the blob", "[file]": "file to upload" },
    async run({ connect, output }, { key, file }) {
      const bytesMax = limits.blobBytesMax
      const content =
        file === undefined ? await readInputBytes(bytesMax) : readBytes(file, bytesMax)
      const { client } = await connect()
      await client.putBlob({ key, content })
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
    takes: { "<keys...>": "keys of the blobs", ...confirmOption },
    async run({ connect, output }, { keys, yes }) {
      const { client } = await connect()
      await confirm(
        keys.length === 1 ? `Delete the blob ${keys[0]}?` : `Delete ${keys.length} blobs?`,
        { yes },
      )
      for (const key of keys) {
        await client.deleteBlob({ key })
        output.print({ json: { key, deleted: true }, plain: key, human: `Deleted ${key}` })
      }
    },
  }),
}

/** Reads page after page: this list has no links, and continues after a key. */
async function* listBlobs(
  { client }: Connection,
  prefix: string,
): AsyncGenerator<Output<"listBlobs">[number]> {
  const limit = limits.blobItemsMax
  for (let after: string | undefined; ; ) {
    const blobs: Output<"listBlobs"> = await client.listBlobs({ prefix, limit, after })
    yield* blobs
    if (blobs.length < limit) return
    after = blobs.at(-1)?.key
  }
}
