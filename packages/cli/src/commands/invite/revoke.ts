import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"

interface RevokeOptions {
  readonly id: string
}

export const command = defineCommand<RevokeOptions>({
  examples: [["hamlet invite revoke 01890000-0000-7000-8000-000000000000", "revoke an invitation"]],
  configure: (command: Command) =>
    command.argument("<id>", 'id of the invitation (see "hamlet invite list")'),
  run: revokeInvitation,
})

async function revokeInvitation(
  { connect, output }: Context,
  { id }: RevokeOptions,
): Promise<void> {
  const { client } = await connect()
  await client.revokeInvitation({ invitation_id: id })
  output.print({ json: { id, revoked: true }, plain: id, human: `Revoked ${id}` })
}
