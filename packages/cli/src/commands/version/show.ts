import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { findValVersion, toVersionNumber } from "../../names/version-number.ts"

interface ShowOptions {
  readonly val: string
  readonly version: number | undefined
}

export const command = defineCommand<ShowOptions>({
  description: "Prints the code and nothing else; without a number, that of the current version.",
  examples: [
    ["hamlet version show hello 3", "the code of version 3"],
    ["hamlet version show ada/hello@3 --json", "the val as it is in version 3"],
  ],
  configure: (command: Command) =>
    command
      .argument("<val>", "its name")
      .argument("[version]", "the number of the version", toVersionNumber),
  run: showVersion,
})

async function showVersion({ connect, output }: Context, options: ShowOptions): Promise<void> {
  const connection = await connect()
  const { val, version } = await findValVersion(connection, options.val, options.version)
  const shown =
    val.version === version ? val : await connection.client.getVersion({ val_id: val.id, version })
  if (output.mode === "json") output.json(shown)
  else output.text(shown.code)
}
