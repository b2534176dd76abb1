import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { findWholeVal, toFullName } from "../../names/find-val.ts"

interface RenameOptions {
  readonly val: string
  readonly name: string
}

export const command = defineCommand<RenameOptions>({
  description: "The URLs of the val change too.",
  examples: [["hamlet val rename hello greet", "rename hello to greet"]],
  configure: (command: Command) =>
    command.argument("<val>", "name of the val").argument("<name>", "new name"),
  run: renameVal,
})

async function renameVal(
  { connect, output }: Context,
  { val: text, name }: RenameOptions,
): Promise<void> {
  const connection = await connect()
  const val = await findWholeVal(connection, text)
  await connection.client.updateVal({ val_id: val.id, name })
  const renamed = await connection.client.getVal({ val_id: val.id })
  output.print({
    json: renamed,
    plain: toFullName(renamed),
    human: `Renamed ${toFullName(val)} to ${toFullName(renamed)}`,
  })
}
