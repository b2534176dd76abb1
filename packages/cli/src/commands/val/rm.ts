import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import type { ExitName } from "../../exit-codes.ts"
import { findWholeVal, toFullName } from "../../names/find-val.ts"
import { forEachOne } from "../../output/for-each-one.ts"
import { addConfirmOption, type ConfirmOptions, confirm } from "../../terminal/confirm.ts"

interface RmOptions extends ConfirmOptions {
  readonly vals: readonly string[]
}

export const command = defineCommand<RmOptions>({
  description: "Deletes their versions, likes, comments and runs too. This cannot be undone.",
  examples: [
    ["hamlet val rm hello", "delete a val after confirmation"],
    ["hamlet val rm hello world --yes", "delete two vals without confirmation"],
  ],
  configure: (command: Command) =>
    addConfirmOption(command.argument("<vals...>", "names of the vals")),
  run: deleteVals,
})

async function deleteVals(
  { connect, output }: Context,
  { vals, ...options }: RmOptions,
): Promise<ExitName | undefined> {
  const connection = await connect()
  return forEachOne(output, vals, async (text) => {
    const val = await findWholeVal(connection, text)
    const name = toFullName(val)
    await confirm(`Delete ${name} with all its versions and runs?`, options)
    await connection.client.deleteVal({ val_id: val.id })
    output.print({
      json: { id: val.id, name: val.name, username: val.author.username, deleted: true },
      plain: name,
      human: `Deleted ${name}`,
    })
  })
}
