import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { findWholeVal, toFullName } from "../../names/find-val.ts"
import { addConfirmOption, type ConfirmOptions, confirm } from "../../terminal/confirm.ts"

interface RmOptions extends ConfirmOptions {
  readonly val: string
}

export const command = defineCommand<RmOptions>({
  description: "The val stays, and so do its runs.",
  examples: [
    ["hamlet schedule rm report", "delete a schedule after confirmation"],
    ["hamlet schedule rm report --yes", "delete it without confirmation"],
  ],
  configure: (command: Command) => addConfirmOption(command.argument("<val>", "name of the val")),
  run: deleteSchedule,
})

async function deleteSchedule(
  { connect, output }: Context,
  { val: text, ...options }: RmOptions,
): Promise<void> {
  const connection = await connect()
  const val = await findWholeVal(connection, text)
  const name = toFullName(val)
  await confirm(`Delete the schedule of ${name}?`, options)
  await connection.client.deleteSchedule({ val_id: val.id })
  output.print({
    json: { val: name, deleted: true },
    plain: name,
    human: `Deleted the schedule of ${name}`,
  })
}
