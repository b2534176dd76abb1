import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { addConfirmOption, type ConfirmOptions, confirm } from "../../terminal/confirm.ts"

interface RevokeOptions extends ConfirmOptions {
  readonly token: string
}

export const command = defineCommand<RevokeOptions>({
  description: "Takes effect at once on every node, and cannot be undone.",
  examples: [
    [
      "hamlet token revoke 0190a6b1-7e3c-7c4d-8f5e-0123456789ab",
      'revoke a token by its id (see "hamlet token list")',
    ],
  ],
  configure: (command: Command) => addConfirmOption(command.argument("<token>", "id of the token")),
  run: revokeToken,
})

async function revokeToken(
  { connect, output }: Context,
  { token: id, ...options }: RevokeOptions,
): Promise<void> {
  const { client } = await connect()
  await confirm(`Revoke the token ${id}?`, options)
  await client.revokeToken({ token_id: id })
  output.print({ json: { id, revoked: true }, plain: id, human: `Revoked ${id}` })
}
