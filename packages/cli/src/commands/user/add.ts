import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"

interface AddOptions {
  readonly username: string
  readonly email?: string
}

export const command = defineCommand<AddOptions>({
  description:
    "Prints the user's first token, once. It has all scopes except those for administration.",
  examples: [
    ["hamlet user add grace", "create a user"],
    ["hamlet user add grace --email grace@example.com > token.txt", "save the token to a file"],
  ],
  configure: (command: Command) =>
    command.argument("<username>", "username").option("--email <address>", "email address"),
  run: addUser,
})

async function addUser(
  { connect, output }: Context,
  { username, email }: AddOptions,
): Promise<void> {
  const { client } = await connect()
  const user = await client.createUser({ username, ...(email !== undefined && { email }) })
  output.print({ json: user, plain: user.token, human: user.token })
  if (output.mode === "human")
    output.note(`This is the first token of ${user.username}. It will not be shown again`)
}
