import { defineCommand } from "../command.ts"
import { showUsage } from "../output/usage-table.ts"

export const command = defineCommand({
  description:
    "Rates per minute are those of the node that responds; storage is the total of all nodes.",
  examples: [
    ["hamlet usage", "your usage and limits"],
    ["hamlet usage --json", "the same as JSON"],
  ],
  async run({ connect, output }) {
    const { client } = await connect()
    await showUsage(output, await client.getMyUsage())
  },
})
