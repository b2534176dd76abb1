import { mkdirSync } from "node:fs"
import { defineCommand } from "../../command.ts"
import { openFolderState } from "../../files/folder-state.ts"
import { pullVal } from "../../files/pull-val.ts"
import { limits } from "../../limits.ts"
import { forEachOne } from "../../output/for-each-one.ts"
import { printPulled } from "./pull.ts"

export const command = defineCommand({
  description: "The folder defaults to the username. Run it again to fetch changes.",
  examples: [
    ["hamlet val clone", "download all your vals into a folder named after you"],
    ["hamlet val clone ada examples", "download ada's vals into the folder examples"],
  ],
  takes: {
    "[user]": "owner of the vals (default: you)",
    "[folder]": "folder to write to",
    "--force": "overwrite files with local changes",
  },
  async run(context, { user, folder, force = false }) {
    const connection = await context.connect()
    const { client, server } = connection
    const owner =
      user === undefined ? await connection.me() : await client.getUserByName({ username: user })
    const target = folder ?? owner.username
    mkdirSync(target, { recursive: true })
    const state = openFolderState(target, server.url)
    const vals = client.items("listVals", { userId: owner.id, limit: limits.pageItemsMax })
    try {
      return await forEachOne(context.output, vals, (val) =>
        printPulled(context.output, pullVal(state, val, force)),
      )
    } finally {
      state.save()
    }
  },
})
