import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { addConfirmOption, type ConfirmOptions, confirm } from "../../terminal/confirm.ts"

interface RevokeOptions extends ConfirmOptions {
  readonly token: string
}

export const command = defineCommand<RevokeOptions>({
  description: "At once, on every node. It cannot be taken back.",
  examples: [
    [
      "hamlet token revoke 0190a6b1-7e3c-7c4d-8f5e-0123456789ab",
      'by its id, which "hamlet token list" shows',
    ],
  ],
  configure: (command: Command) => addConfirmOption(command.argument("<token>", "its id")),
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
