import type { Command } from "commander"
import { defineCommand } from "../../../command.ts"
import type { Context } from "../../../context.ts"
import { findWholeVal } from "../../../names/find-val.ts"
import {
  addListOptions,
  type ListingOptions,
  showList,
  toPageLimit,
} from "../../../output/listing.ts"
import { toAgo } from "../../../terminal/ago.ts"

interface CommentsOptions extends ListingOptions {
  readonly val: string
}

export const command = defineCommand<CommentsOptions>({
  description:
    "The newest come first. At a terminal they are cut to its width; --json has them whole.",
  examples: [
    ["hamlet val comments ada/hello", "what people say about it"],
    ["hamlet val comments hello --all --json", "all of them, whole"],
  ],
  configure: (command: Command) => addListOptions(command.argument("<val>", "its name")),
  run: listComments,
})

async function listComments({ connect, output }: Context, options: CommentsOptions): Promise<void> {
  const connection = await connect()
  const { id } = await findWholeVal(connection, options.val)
  const now = Date.now()
  await showList(
    output,
    connection.client.items("listComments", { val_id: id, limit: toPageLimit(options) }),
    options,
    {
      empty: 'There are none: "hamlet val comment" makes one',
      columns: [
        { title: "id", value: (one) => one.id, isWhole: true },
        {
          title: "author",
          value: ({ author }) => author?.username ?? null,
          paint: (colour) => colour.bold,
        },
        {
          title: "said",
          value: ({ createdAt }) => createdAt,
          human: ({ createdAt }) => toAgo(createdAt, now),
        },
        { title: "comment", value: ({ comment }) => comment },
      ],
    },
  )
}
