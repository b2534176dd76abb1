import type { Output } from "@hamlet/contract/client"
import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"

interface ConfirmOptions {
  readonly address?: string
  readonly code: string | undefined
}

export const command = defineCommand<ConfirmOptions>({
  description: `Confirms the email address in your profile, so that your vals can mail you. Without a code, it sends one to the
address.`,
  examples: [
    ["hamlet mail confirm", "send a code to your address"],
    ["hamlet mail confirm --address ada@example.org", "set your address, and send a code to it"],
    ["hamlet mail confirm 12345678", "confirm the address with the code"],
  ],
  configure: (command: Command) =>
    command
      .argument("[code]", "code from the message")
      .option("--address <address>", "set the address in your profile first"),
  run: confirmAddress,
})

async function confirmAddress(
  { connect, output }: Context,
  { code, address }: ConfirmOptions,
): Promise<void> {
  const { client } = await connect()
  const changed = address === undefined ? undefined : await client.updateMe({ email: address })
  // The server takes the word of an administrator for their own address.
  if (code === undefined && changed?.emailVerified) return printAddress(output, changed)
  if (code === undefined) {
    await client.sendEmailCode()
    output.note('Sent a code to your address. Confirm it with "hamlet mail confirm CODE"')
    return
  }
  printAddress(output, await client.confirmEmail({ code }))
}

function printAddress(output: Context["output"], me: Output<"updateMe">): void {
  output.record(me, [
    ["email", me.email],
    ["confirmed", String(me.emailVerified)],
  ])
}
