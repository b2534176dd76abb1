import type { Command } from "commander"
import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { askHidden, canAsk } from "../../terminal/ask.ts"
import { readInput } from "../../terminal/read-input.ts"

interface SetOptions {
  readonly secret: string
  readonly host?: readonly string[]
}

export const command = defineCommand<SetOptions>({
  description: `The value is asked for, or read from standard input without the newline at its end; it is never an argument, because others can read
those. With --host your vals never see it: it is put into requests to those hosts only.`,
  examples: [
    ["hamlet secret set API_KEY", "the value is asked for, and not shown"],
    ["hamlet secret set API_KEY < key.txt", "from a file"],
    ["hamlet secret set API_KEY --host api.example.com", "for one host only"],
  ],
  configure: (command: Command) =>
    command
      .argument("<secret>", "its name, of capital letters, digits and _")
      .option("--host <host...>", "only for requests to these hosts"),
  run: setSecret,
})

async function setSecret(
  { connect, output }: Context,
  { secret: name, host }: SetOptions,
): Promise<void> {
  const { client } = await connect()
  const value = canAsk()
    ? await askHidden(`Value of ${name}: `)
    : (await readInput()).replace(/\r?\n$/, "")
  if (value === "") throw new CliError("usage", `Cannot set ${name}: there is no value`)
  await client.putSecret({ name, value, ...(host && { hosts: host }) })
  output.print({ json: { name, hosts: host ?? null }, plain: name, human: `Set ${name}` })
}
