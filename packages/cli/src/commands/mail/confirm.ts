import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"

interface ConfirmOptions {
  readonly code: string | undefined
}

export const command = defineCommand<ConfirmOptions>({
  description: `Confirms the email address in your profile, so that your vals can mail you. Without a code, it sends one to the
address.`,
  examples: [
    ["hamlet mail confirm", "send a code to your address"],
    ["hamlet mail confirm 12345678", "confirm the address with the code"],
  ],
  configure: (command: Command) => command.argument("[code]", "code from the message"),
  run: confirmAddress,
})

async function confirmAddress(
  { connect, output }: Context,
  { code }: ConfirmOptions,
): Promise<void> {
  const { client } = await connect()
  if (code === undefined) {
    await client.sendEmailCode()
    output.note('Sent a code to your address. Confirm it with "hamlet mail confirm CODE"')
    return
  }
  const me = await client.confirmEmail({ code })
  output.record(me, [
    ["email", me.email],
    ["confirmed", String(me.emailVerified)],
  ])
}
