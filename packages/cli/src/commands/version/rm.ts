import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { toFullName } from "../../names/find-val.ts"
import { findNamedVersion, toVersionNumber } from "../../names/version-number.ts"
import { addConfirmOption, type ConfirmOptions, confirm } from "../../terminal/confirm.ts"

interface RmOptions extends ConfirmOptions {
  readonly val: string
  readonly version: number | undefined
}

export const command = defineCommand<RmOptions>({
  description:
    "The version can no longer be run or imported, and its number is never reused. This cannot be undone.",
  examples: [
    ["hamlet version rm hello 3", "delete a version after confirmation"],
    ["hamlet version rm hello@3 --yes", "delete it without confirmation"],
  ],
  configure: (command: Command) =>
    addConfirmOption(
      command
        .argument("<val>", "name of the val")
        .argument("[version]", "number of the version", toVersionNumber),
    ),
  run: deleteVersion,
})

async function deleteVersion({ connect, output }: Context, options: RmOptions): Promise<void> {
  const connection = await connect()
  const { val, version } = await findNamedVersion(connection, options.val, options.version)
  const name = `${toFullName(val)}@${version}`
  await confirm(`Delete ${name}?`, options)
  await connection.client.deleteVersion({ val_id: val.id, version })
  output.print({
    json: { id: val.id, version, deleted: true },
    plain: name,
    human: `Deleted ${name}`,
  })
}
