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
  description: `Prompts for the value, or reads it from standard input without the trailing newline; it is never an
argument, because other users of this machine can read those. With --host, your vals never see the value:
it is inserted into requests to those hosts only.`,
  examples: [
    ["hamlet secret set API_KEY", "enter the value at a hidden prompt"],
    ["hamlet secret set API_KEY < key.txt", "read the value from a file"],
    ["hamlet secret set API_KEY --host api.example.com", "for requests to one host only"],
  ],
  configure: (command: Command) =>
    command
      .argument("<secret>", "name of the secret: capital letters, digits and _")
      .option("--host <host...>", "use only in requests to these hosts"),
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
  if (value === "") throw new CliError("usage", `Cannot set ${name}: the value is empty`)
  await client.putSecret({ name, value, ...(host && { hosts: host }) })
  output.print({ json: { name, hosts: host ?? null }, plain: name, human: `Set ${name}` })
}
