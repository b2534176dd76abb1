import { type Command, InvalidArgumentError } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"

interface NewOptions {
  readonly note?: string
  readonly hours?: number
}

export const command = defineCommand<NewOptions>({
  description: `Prints a link with which one person can choose a name and sign in: in a browser, or with "hamlet join". It works once, within 72 hours.`,
  examples: [
    ["hamlet invite new", "a link to hand over"],
    ['hamlet invite new --note "Grace" --hours 24', "for a day, with a word that says for whom"],
  ],
  configure: (command: Command) =>
    command
      .option("--note <text>", "for whom it is; only administrators see it")
      .option("--hours <count>", "how long it is good, up to 720", toHours),
  run: createInvitation,
})

async function createInvitation(
  { connect, output }: Context,
  { note, hours }: NewOptions,
): Promise<void> {
  const { client } = await connect()
  const made = await client.createInvitation({
    ...(note !== undefined && { note }),
    ...(hours !== undefined && { hours }),
  })
  output.print({ json: made, plain: made.url, human: made.url })
  if (output.mode === "human")
    output.note(`It works once, until ${made.expiresAt}. It is shown only now`)
}

function toHours(text: string): number {
  const hours = Number(text)
  if (/^\d{1,3}$/.test(text) && hours >= 1 && hours <= 720) return hours
  throw new InvalidArgumentError("It must be a whole number from 1 to 720.")
}
