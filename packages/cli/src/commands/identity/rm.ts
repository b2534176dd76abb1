import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"

interface RemoveOptions {
  readonly id: string
}

export const command = defineCommand<RemoveOptions>({
  description: "The account of the provider no longer signs you in. Browsers stay signed in.",
  examples: [["hamlet identity rm 01890000-0000-7000-8000-000000000000", "unlink an account"]],
  configure: (command: Command) =>
    command.argument("<id>", 'id of the identity (see "hamlet identity list")'),
  run: removeIdentity,
})

async function removeIdentity({ connect, output }: Context, { id }: RemoveOptions): Promise<void> {
  const { client } = await connect()
  await client.unlinkIdentity({ identity_id: id })
  output.print({ json: { id, unlinked: true }, plain: id, human: `Unlinked ${id}` })
}
