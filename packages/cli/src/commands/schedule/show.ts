import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { findWholeVal } from "../../names/find-val.ts"
import { printSchedule } from "../../schedules.ts"

interface ShowOptions {
  readonly val: string
}

export const command = defineCommand<ShowOptions>({
  description: "Prints when the val runs, its next due times and how its last run ended.",
  examples: [["hamlet schedule show report", "show a schedule"]],
  configure: (command: Command) => command.argument("<val>", "name of the val"),
  run: showSchedule,
})

async function showSchedule({ connect, output }: Context, options: ShowOptions): Promise<void> {
  const connection = await connect()
  const val = await findWholeVal(connection, options.val)
  printSchedule(output, await connection.client.getSchedule({ val_id: val.id }))
}
