import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { findValVersion, toVersionNumber } from "../../names/version-number.ts"

interface ShowOptions {
  readonly val: string
  readonly version: number | undefined
}

export const command = defineCommand<ShowOptions>({
  description: "Prints only the code; that of the current version if you pass no number.",
  examples: [
    ["hamlet version show hello 3", "print the code of version 3"],
    ["hamlet version show ada/hello@3 --json", "print the val at version 3"],
  ],
  configure: (command: Command) =>
    command
      .argument("<val>", "name of the val")
      .argument("[version]", "number of the version", toVersionNumber),
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
