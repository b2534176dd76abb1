import type { Output } from "@hamlet/contract/client"
import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { limits } from "../../limits.ts"
import { addListOptions, type ListingOptions, showList } from "../../output/listing.ts"
import type { Connection } from "../../servers/connection.ts"
import { toAgo } from "../../terminal/ago.ts"
import { toSize } from "../../terminal/progress-line.ts"

interface ListOptions extends ListingOptions {
  readonly prefix: string | undefined
}

export const command = defineCommand<ListOptions>({
  description: "Sorted by key.",
  examples: [
    ["hamlet blob list", "list your blobs"],
    ["hamlet blob list photos/ --all", "all keys that start with photos/"],
  ],
  configure: (command: Command) =>
    addListOptions(command.argument("[prefix]", "prefix of the keys")),
  run: listBlobs,
})

async function listBlobs(
  { connect, output }: Context,
  { prefix = "", ...options }: ListOptions,
): Promise<void> {
  const now = Date.now()
  await showList(output, toItems(await connect(), prefix), options, {
    empty: "No blobs",
    columns: [
      { title: "key", value: ({ key }) => key, paint: (colour) => colour.bold, isWhole: true },
      { title: "size", value: ({ size }) => size, human: ({ size }) => toSize(size) },
      {
        title: "modified",
        value: ({ lastModified }) => lastModified,
        human: ({ lastModified }) => toAgo(lastModified, now),
      },
    ],
  })
}

/** Reads page after page: this list has no links, and continues after a key. */
async function* toItems(
  { client }: Connection,
  prefix: string,
): AsyncGenerator<Output<"listBlobs">[number]> {
  const limit = limits.blobItemsMax
  for (let after: string | undefined; ; ) {
    const blobs: Output<"listBlobs"> = await client.listBlobs({
      prefix,
      limit,
      ...(after !== undefined && { after }),
    })
    yield* blobs
    if (blobs.length < limit) return
    after = blobs.at(-1)?.key
  }
}
