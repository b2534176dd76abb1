import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { findUser } from "../../names/find-user.ts"

interface EmailOptions {
  readonly user: string
  readonly email: string
}

export const command = defineCommand<EmailOptions>({
  description: `Sets the email address of a user, who then need not confirm it. "none" removes the address.`,
  examples: [
    ["hamlet user email grace grace@example.org", "set the address of a user"],
    ["hamlet user email grace none", "remove it"],
  ],
  configure: (command: Command) =>
    command.argument("<user>", "username or id").argument("<email>", 'address, or "none"'),
  run: setEmail,
})

async function setEmail(
  { connect, output }: Context,
  { user, email }: EmailOptions,
): Promise<void> {
  const connection = await connect()
  const { id } = await findUser(connection, user)
  const account = await connection.client.putUserEmail({
    user_id: id,
    email: email === "none" ? null : email,
  })
  output.record(account, [
    ["username", account.username],
    ["email", account.email],
  ])
}
