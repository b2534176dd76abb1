import { type Command, InvalidArgumentError } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"

interface NewOptions {
  readonly note?: string
  readonly hours?: number
  readonly email?: string
}

export const command = defineCommand<NewOptions>({
  description: `Prints a link that lets one person choose a username and sign in, in a browser or with "hamlet join". It
works once, for 72 hours unless you set --hours.`,
  examples: [
    ["hamlet invite new", "create an invitation"],
    ['hamlet invite new --note "Grace" --hours 24', "valid for a day, with a note"],
  ],
  configure: (command: Command) =>
    command
      .option("--note <text>", "note for administrators")
      .option("--email <address>", "email address that the account gets")
      .option("--hours <count>", "hours until it expires, at most 720", toHours),
  run: createInvitation,
})

async function createInvitation(
  { connect, output }: Context,
  { note, hours, email }: NewOptions,
): Promise<void> {
  const { client } = await connect()
  const invitation = await client.createInvitation({
    ...(note !== undefined && { note }),
    ...(hours !== undefined && { hours }),
    ...(email !== undefined && { email }),
  })
  output.print({ json: invitation, plain: invitation.url, human: invitation.url })
  if (output.mode === "human")
    output.note(`The link works once, until ${invitation.expiresAt}. It will not be shown again`)
}

function toHours(text: string): number {
  const hours = Number(text)
  if (/^\d{1,3}$/.test(text) && hours >= 1 && hours <= 720) return hours
  throw new InvalidArgumentError("It must be a whole number from 1 to 720.")
}
