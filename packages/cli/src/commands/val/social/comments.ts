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
    "Newest comments first. Truncated to the width of the terminal; --json prints them in full.",
  examples: [
    ["hamlet val comments ada/hello", "list the comments on a val"],
    ["hamlet val comments hello --all --json", "print all comments in full"],
  ],
  configure: (command: Command) => addListOptions(command.argument("<val>", "name of the val")),
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
      empty: 'No comments; write one with "hamlet val comment"',
      columns: [
        { title: "id", value: (one) => one.id, isWhole: true },
        {
          title: "author",
          value: ({ author }) => author?.username ?? null,
          paint: (colour) => colour.bold,
        },
        {
          title: "written",
          value: ({ createdAt }) => createdAt,
          human: ({ createdAt }) => toAgo(createdAt, now),
        },
        { title: "comment", value: ({ comment }) => comment },
      ],
    },
  )
}
