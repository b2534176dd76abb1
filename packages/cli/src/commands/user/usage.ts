import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { findUser } from "../../names/find-user.ts"
import { showUsage } from "../../output/usage-table.ts"

interface UsageOptions {
  readonly user: string
}

export const command = defineCommand<UsageOptions>({
  description:
    "Rates per minute are those of the node that responds; storage is the total of all nodes.",
  examples: [["hamlet user usage grace", "show the usage and limits of a user"]],
  configure: (command: Command) => command.argument("<user>", "username or id"),
  run: showUserUsage,
})

async function showUserUsage({ connect, output }: Context, { user }: UsageOptions): Promise<void> {
  const connection = await connect()
  const { id } = await findUser(connection, user)
  await showUsage(output, await connection.client.getUserUsage({ user_id: id }))
}
