import type { Command } from "commander"
import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"

interface ReadOptions {
  readonly ids: readonly string[]
  readonly all?: true
}

export const command = defineCommand<ReadOptions>({
  examples: [
    ["hamlet notification read 01890000-0000-7000-8000-000000000000", "mark one as read"],
    ["hamlet notification read --all", "mark all as read"],
  ],
  configure: (command: Command) =>
    command
      .argument("[ids...]", 'ids of notifications (see "hamlet notification list")')
      .option("--all", "mark all as read"),
  run: readNotifications,
})

async function readNotifications(
  { connect, output }: Context,
  { ids, all }: ReadOptions,
): Promise<void> {
  if ((ids.length === 0) !== (all === true))
    throw new CliError("usage", "Cannot mark as read: pass either ids or --all", {
      advice: 'see "hamlet notification list"',
    })
  const { client } = await connect()
  await client.readNotifications(all ? {} : { ids })
  const { unread } = await client.countNotifications()
  output.print({
    json: { unread },
    plain: String(unread),
    human: `Marked as read; ${unread} unread`,
  })
}
