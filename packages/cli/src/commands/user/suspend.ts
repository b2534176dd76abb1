import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { findUser } from "../../names/find-user.ts"

interface SuspendOptions {
  readonly user: string
  readonly reason?: string
}

export const command = defineCommand<SuspendOptions>({
  description: `The tokens and sessions of the user are refused from now on, the user's vals do not run, and runs that go on are cancelled. Nothing is deleted.`,
  examples: [
    ["hamlet user suspend grace", "until it is lifted"],
    ['hamlet user suspend grace --reason "sends spam"', "the reason is in the audit log"],
  ],
  configure: (command: Command) =>
    command.argument("<user>", "their name or id").option("--reason <text>", "for the audit log"),
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
