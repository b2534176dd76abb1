import { defineCommand } from "../command.ts"
import type { Context } from "../context.ts"
import { showUsage } from "../output/usage-table.ts"

export const command = defineCommand({
  description:
    "What happens in a minute is counted by the node that answers; what is stored is the same everywhere.",
  examples: [
    ["hamlet usage", "what you use, and how much of it you may"],
    ["hamlet usage --json", "the same for a program"],
  ],
  run: showMyUsage,
})

async function showMyUsage({ connect, output }: Context): Promise<void> {
  const { client } = await connect()
  await showUsage(output, await client.getMyUsage())
}
