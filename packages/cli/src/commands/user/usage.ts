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
    "What happens in a minute is counted by the node that answers; what is stored is the same everywhere.",
  examples: [["hamlet user usage grace", "what they use, and how much of it they may"]],
  configure: (command: Command) => command.argument("<user>", "their name or id"),
  run: showUserUsage,
})

async function showUserUsage({ connect, output }: Context, { user }: UsageOptions): Promise<void> {
  const connection = await connect()
  const { id } = await findUser(connection, user)
  await showUsage(output, await connection.client.getUserUsage({ user_id: id }))
}
