import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { findUser } from "../../names/find-user.ts"

interface ShowOptions {
  readonly user: string
}

export const command = defineCommand<ShowOptions>({
  examples: [["hamlet user show grace", "show an account and whether it is suspended"]],
  configure: (command: Command) => command.argument("<user>", "username or id"),
  run: showUser,
})

async function showUser({ connect, output }: Context, { user }: ShowOptions): Promise<void> {
  const connection = await connect()
  const account = await connection.client.getUserAccount({
    user_id: (await findUser(connection, user)).id,
  })
  output.record(account, [
    ["username", account.username],
    ["email", account.email],
    ["since", account.createdAt],
    ["suspended", account.suspendedAt],
    ["deleted", account.deletedAt],
    ["id", account.id],
  ])
}
