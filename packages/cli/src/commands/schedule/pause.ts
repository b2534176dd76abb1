import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { findWholeVal } from "../../names/find-val.ts"
import { printSchedule } from "../../schedules.ts"

interface PauseOptions {
  readonly val: string
}

export const command = defineCommand<PauseOptions>({
  description: "Due times until it is resumed have no run.",
  examples: [["hamlet schedule pause report", "start no more runs"]],
  configure: (command: Command) => command.argument("<val>", "name of the val"),
  run: pauseSchedule,
})

async function pauseSchedule({ connect, output }: Context, options: PauseOptions): Promise<void> {
  const connection = await connect()
  const val = await findWholeVal(connection, options.val)
  printSchedule(output, await connection.client.putSchedule({ val_id: val.id, isPaused: true }))
}
