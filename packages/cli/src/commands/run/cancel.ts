import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"

interface CancelOptions {
  readonly run: string
}

export const command = defineCommand<CancelOptions>({
  description:
    "Both the user who started a run and the owner of its val can cancel it. A run that has ended is left unchanged.",
  examples: [["hamlet run cancel 0190a6b1-7e3c-7c4d-8f5e-0123456789ab", "cancel a run"]],
  configure: (command: Command) => command.argument("<run>", "id of the run"),
  run: cancelRun,
})

async function cancelRun({ connect, output }: Context, { run: id }: CancelOptions): Promise<void> {
  const { client } = await connect()
  const { found } = await client.cancelRun({ run_id: id })
  output.print({
    json: { id, found },
    plain: found ? "cancelled" : "ended before",
    human: found ? `Cancelled ${id}` : `${id} has already ended`,
  })
}
