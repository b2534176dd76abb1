import type { Command } from "commander"
import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { findWholeVal } from "../../names/find-val.ts"
import { askHidden, canAsk } from "../../terminal/ask.ts"
import { readInput } from "../../terminal/read-input.ts"

interface SetOptions {
  readonly secret: string
  readonly host?: readonly string[]
  readonly val?: string
}

export const command = defineCommand<SetOptions>({
  description: `Prompts for the value, or reads it from standard input without the trailing newline; it is never an
argument, because other users of this machine can read those. With --host, your vals never see the value:
it is inserted into requests to those hosts only.`,
  examples: [
    ["hamlet secret set API_KEY", "enter the value at a hidden prompt"],
    ["hamlet secret set API_KEY < key.txt", "read the value from a file"],
    ["hamlet secret set API_KEY --host api.example.com", "for requests to one host only"],
    ["hamlet secret set API_KEY --val report", "for one val, instead of the account's"],
  ],
  configure: (command: Command) =>
    command
      .argument("<secret>", "name of the secret: capital letters, digits and _")
      .option("--host <host...>", "use only in requests to these hosts")
      .option("--val <val>", "a secret of this val alone"),
  run: setSecret,
})

async function setSecret(
  { connect, output }: Context,
  { secret: name, host, val: valName }: SetOptions,
): Promise<void> {
  const connection = await connect()
  const { client } = connection
  const val = valName === undefined ? undefined : await findWholeVal(connection, valName)
  const value = canAsk()
    ? await askHidden(`Value of ${name}: `)
    : (await readInput()).replace(/\r?\n$/, "")
  if (value === "") throw new CliError("usage", `Cannot set ${name}: the value is empty`)
  const secret = { name, value, ...(host && { hosts: host }) }
  if (val) await client.putValSecret({ val_id: val.id, ...secret })
  else await client.putSecret(secret)
  output.print({ json: { name, hosts: host ?? null }, plain: name, human: `Set ${name}` })
}
