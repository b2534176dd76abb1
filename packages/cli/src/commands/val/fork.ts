import { type Command, Option } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { privacies } from "../../contract-copies.ts"
import { findVal, toFullName } from "../../names/find-val.ts"
import { type Privacy, toSaved } from "../../vals.ts"

interface ForkOptions {
  readonly val: string
  readonly name?: string
  readonly privacy?: Privacy
}

export const command = defineCommand<ForkOptions>({
  description: `Copies the code, readme and type of a val that you can see. The copy imports the same vals and packages.
It is private, and has the same name or one with a number, unless options say otherwise.`,
  examples: [
    ["hamlet val fork ada/hello", "copy the current version of a val"],
    ["hamlet val fork ada/hello@3 --name mine --privacy public", "copy an old version"],
  ],
  configure: (command: Command) =>
    command
      .argument("<val>", "name of the val")
      .option("--name <name>", "name of the copy")
      .addOption(new Option("--privacy <privacy>", "who can see the copy").choices(privacies)),
  run: forkVal,
})

async function forkVal({ connect, output }: Context, options: ForkOptions): Promise<void> {
  const connection = await connect()
  const { val, version } = await findVal(connection, options.val)
  const { name, privacy } = options
  const fork = await connection.client.forkVal({
    val_id: val.id,
    ...(version !== undefined && { version }),
    ...(name !== undefined && { name }),
    ...(privacy && { privacy }),
  })
  output.print(toSaved(fork, `Forked ${toFullName(val)} as`))
}
