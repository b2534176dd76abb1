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
    "Saves the old code as a new version, so nothing is lost. Fails if the val is saved at the same time.",
  examples: [["hamlet version restore hello 3", "restore the code of version 3"]],
  configure: (command: Command) =>
    command
      .argument("<val>", "name of the val")
      .argument("[version]", "number of the version", toVersionNumber),
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
