import type { Input } from "@hamlet/contract/client"
import { type Command, Option } from "commander"
import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { scheduleCatchUps, scheduleOverlaps } from "../../contract-copies.ts"
import { findWholeVal } from "../../names/find-val.ts"
import { printSchedule } from "../../schedules.ts"

type Body = Input<"putSchedule">

interface SetOptions {
  readonly val: string
  readonly cron?: string
  readonly every?: string
  readonly timeZone?: string
  readonly overlap?: NonNullable<Body["overlap"]>
  readonly catchUp?: NonNullable<Body["catchUp"]>
}

export const command = defineCommand<SetOptions>({
  description: `The val must be of type interval. Options that you leave out keep their values. A cron expression has
five fields, or six with seconds.`,
  examples: [
    ["hamlet schedule set report --every 15m", "run it every 15 minutes"],
    [
      'hamlet schedule set report --cron "0 9 * * 1-5" --time-zone Europe/Berlin',
      "every weekday at 09:00 in Berlin",
    ],
    ["hamlet schedule set report --overlap queue", "let due times wait for the run before"],
  ],
  configure: (command: Command) =>
    command
      .argument("<val>", "name of the val")
      .option("-c, --cron <expression>", "when it runs, as a cron expression")
      .option("-e, --every <duration>", "how often it runs, such as 30s, 15m, 2h or 1d")
      .option("-z, --time-zone <zone>", "time zone of the expression, such as Europe/Berlin")
      .addOption(
        new Option("--overlap <overlap>", "what happens while the run before goes on").choices(
          scheduleOverlaps,
        ),
      )
      .addOption(
        new Option("--catch-up <runs>", "runs for due times that an outage missed").choices(
          scheduleCatchUps,
        ),
      ),
  run: setSchedule,
})

async function setSchedule(
  { connect, output }: Context,
  { val: name, cron, every, timeZone, overlap, catchUp }: SetOptions,
): Promise<void> {
  const settings = {
    ...(cron !== undefined && { cron }),
    ...(every !== undefined && { every }),
    ...(timeZone !== undefined && { timeZone }),
    ...(overlap && { overlap }),
    ...(catchUp && { catchUp }),
  }
  if (Object.keys(settings).length === 0)
    throw new CliError("usage", "Cannot set the schedule: no option says what", {
      advice: "use --cron or --every",
    })
  const connection = await connect()
  const val = await findWholeVal(connection, name)
  printSchedule(output, await connection.client.putSchedule({ val_id: val.id, ...settings }))
}
