import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { findWholeVal } from "../../names/find-val.ts"
import { printSchedule } from "../../schedules.ts"

interface ResumeOptions {
  readonly val: string
}

export const command = defineCommand<ResumeOptions>({
  description: "It goes on with the next due time; its failures are counted anew.",
  examples: [["hamlet schedule resume report", "start runs again"]],
  configure: (command: Command) => command.argument("<val>", "name of the val"),
  run: resumeSchedule,
})

async function resumeSchedule({ connect, output }: Context, options: ResumeOptions): Promise<void> {
  const connection = await connect()
  const val = await findWholeVal(connection, options.val)
  printSchedule(output, await connection.client.putSchedule({ val_id: val.id, isPaused: false }))
}
