import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { findNamedVersion, toVersionNumber } from "../../names/version-number.ts"
import { toSaved } from "../../vals.ts"

interface RestoreOptions {
  readonly val: string
  readonly version: number | undefined
}

export const command = defineCommand<RestoreOptions>({
  description:
    "It becomes a new version, so that nothing is lost. Refused when somebody saves the val at the same moment.",
  examples: [["hamlet version restore hello 3", "the code is what it was in version 3"]],
  configure: (command: Command) =>
    command
      .argument("<val>", "its name")
      .argument("[version]", "the number of the version", toVersionNumber),
  run: restoreVersion,
})

async function restoreVersion(
  { connect, output }: Context,
  options: RestoreOptions,
): Promise<void> {
  const connection = await connect()
  const { val, version } = await findNamedVersion(connection, options.val, options.version)
  const { client } = connection
  const old = await client.getVersion({ val_id: val.id, version })
  output.print(
    toSaved(
      await client.createVersion({ val_id: val.id, code: old.code }, { ifMatch: val.version }),
      "Saved",
    ),
  )
}
