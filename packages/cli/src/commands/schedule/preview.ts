import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"

interface PreviewOptions {
  readonly cron?: string
  readonly every?: string
  readonly timeZone?: string
}

export const command = defineCommand<PreviewOptions>({
  description: "Saves nothing.",
  examples: [
    ['hamlet schedule preview --cron "0 9 * * 1-5" --time-zone Europe/Berlin', "in words"],
    ["hamlet schedule preview --every 90m", "the next ten due times"],
  ],
  configure: (command: Command) =>
    command
      .option("-c, --cron <expression>", "a cron expression of five fields, or six with seconds")
      .option("-e, --every <duration>", "a duration, such as 30s, 15m, 2h or 1d")
      .option("-z, --time-zone <zone>", "time zone of the expression, such as Europe/Berlin"),
  run: previewSchedule,
})

async function previewSchedule(
  { connect, output }: Context,
  { cron, every, timeZone }: PreviewOptions,
): Promise<void> {
  const { client } = await connect()
  const preview = await client.previewSchedule({
    ...(cron !== undefined && { cron }),
    ...(every !== undefined && { every }),
    ...(timeZone !== undefined && { timeZone }),
  })
  if (output.mode === "json") return output.json(preview)
  const heading = output.mode === "human" ? [preview.description] : []
  output.text(`${[...heading, ...preview.nextAt].join("\n")}\n`)
}
