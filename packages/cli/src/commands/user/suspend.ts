import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { findUser } from "../../names/find-user.ts"

interface SuspendOptions {
  readonly user: string
  readonly reason?: string
}

export const command = defineCommand<SuspendOptions>({
  description: `The user's tokens and sessions are refused, their vals do not run, and their current runs are cancelled.
Nothing is deleted.`,
  examples: [
    ["hamlet user suspend grace", "suspend a user"],
    ['hamlet user suspend grace --reason "sends spam"', "record a reason in the audit log"],
  ],
  configure: (command: Command) =>
    command
      .argument("<user>", "username or id")
      .option("--reason <text>", "reason for the audit log"),
  run: suspendUser,
})

async function suspendUser(
  { connect, output }: Context,
  { user, reason }: SuspendOptions,
): Promise<void> {
  const connection = await connect()
  const { id, username } = await findUser(connection, user)
  await connection.client.suspendUser({ user_id: id, ...(reason !== undefined && { reason }) })
  output.print({
    json: { id, username, suspended: true },
    plain: username,
    human: `Suspended ${username}`,
  })
}
