import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { findUser } from "../../names/find-user.ts"
import { addConfirmOption, type ConfirmOptions, confirm } from "../../terminal/confirm.ts"

interface RmOptions extends ConfirmOptions {
  readonly user: string
  readonly withData?: true
}

export const command = defineCommand<RmOptions>({
  description: `The user can no longer sign in, and their vals no longer run; their tokens and secrets are deleted. Their
data is kept: public vals stay readable, the username stays taken, and "hamlet user unsuspend" restores the
user. With --with-data, all of their data is deleted too, permanently.`,
  examples: [
    ["hamlet user rm grace", "delete a user but keep their data"],
    ["hamlet user rm grace --with-data --yes", "delete a user and their data without confirmation"],
  ],
  configure: (command: Command) =>
    addConfirmOption(
      command
        .argument("<user>", "username or id")
        .option("--with-data", "also delete all of their data"),
    ),
  run: deleteUser,
})

async function deleteUser(
  { connect, output }: Context,
  { user, withData, ...options }: RmOptions,
): Promise<void> {
  const connection = await connect()
  const { id, username } = await findUser(connection, user)
  await confirm(
    withData
      ? `Delete ${username} with all of their vals, blobs, databases and runs?`
      : `Delete ${username}?`,
    options,
  )
  await connection.client.deleteUser({ user_id: id, data: withData ? "delete" : "keep" })
  const what = withData ? `${username} and all of their data` : `${username}; their data was kept`
  output.print({
    json: { id, username, deleted: true, withData: withData === true },
    plain: username,
    human: `Deleted ${what}`,
  })
}
