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
  description: `The user cannot sign in any more and none of their vals runs; their tokens and secrets are deleted. Their data is kept: public vals stay
readable and the name stays taken, and "hamlet user unsuspend" brings the user back. With --with-data, everything that they have is deleted too, for good.`,
  examples: [
    ["hamlet user rm grace", "after asking; the data is kept"],
    ["hamlet user rm grace --with-data --yes", "with everything, without asking"],
  ],
  configure: (command: Command) =>
    addConfirmOption(
      command
        .argument("<user>", "their name or id")
        .option("--with-data", "delete everything that they have, too"),
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
  const what = withData
    ? `${username} with everything that they had`
    : `${username}; their data is kept`
  output.print({
    json: { id, username, deleted: true, withData: withData === true },
    plain: username,
    human: `Deleted ${what}`,
  })
}
