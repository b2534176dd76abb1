import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { findUser } from "../../names/find-user.ts"

interface UnsuspendOptions {
  readonly user: string
}

export const command = defineCommand<UnsuspendOptions>({
  description:
    "Also restores a user who was deleted without --with-data; they then need a new token.",
  examples: [["hamlet user unsuspend grace", "lift a suspension"]],
  configure: (command: Command) => command.argument("<user>", "username or id"),
  run: unsuspendUser,
})

async function unsuspendUser(
  { connect, output }: Context,
  { user }: UnsuspendOptions,
): Promise<void> {
  const connection = await connect()
  const { id, username } = await findUser(connection, user)
  await connection.client.unsuspendUser({ user_id: id })
  output.print({
    json: { id, username, suspended: false },
    plain: username,
    human: `${username} is no longer suspended`,
  })
}
