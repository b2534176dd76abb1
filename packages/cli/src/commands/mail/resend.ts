import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"

interface ResendOptions {
  readonly email: string
}

export const command = defineCommand<ResendOptions>({
  description: "Sends a failed email again, to the recipients that did not receive it.",
  examples: [["hamlet mail resend 0190a6b1-7e3c-7c4d-8f5e-0123456789ab", "send one email again"]],
  configure: (command: Command) => command.argument("<email>", "id of the email"),
  run: resendEmail,
})

async function resendEmail(
  { connect, output }: Context,
  { email: id }: ResendOptions,
): Promise<void> {
  const { client } = await connect()
  const email = await client.resendEmail({ email_id: id })
  output.record(email, [
    ["email", email.id],
    ["to", email.to.join(", ")],
    ["status", email.status],
  ])
}
