import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"

interface AddOptions {
  readonly username: string
  readonly email?: string
}

export const command = defineCommand<AddOptions>({
  description:
    "Prints the first token of the new user, which may do everything but administer. It is shown this once.",
  examples: [
    ["hamlet user add grace", "with a token to hand over"],
    ["hamlet user add grace --email grace@example.com > token.txt", "into a file"],
  ],
  configure: (command: Command) =>
    command.argument("<username>", "their name").option("--email <address>", "their address"),
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
    output.note(`That is the first token of ${user.username}. It is shown only now`)
}
