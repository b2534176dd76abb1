import { dirname } from "node:path"
import { defineCommand } from "../../command.ts"
import { type FolderState, openFolderState } from "../../files/folder-state.ts"
import { pushFile } from "../../files/push-file.ts"
import { forEachOne } from "../../output/for-each-one.ts"
import { toSaved } from "../../vals.ts"

export const command = defineCommand({
  description: `The file name is the name of the val. A first line such as "// hamlet: name=hello privacy=public type=http"
overrides it and is not part of the code. Vals that do not exist are created. If the file was pulled or
pushed before and the val has changed since, it is not overwritten. The readme of hello.ts is in
hello.ts.README.md.`,
  examples: [
    ["hamlet val push hello.ts", "save one file"],
    ["hamlet val push *.ts *.tsx", "save all files of a folder"],
    ["hamlet val push hello.ts --force", "overwrite newer changes"],
  ],
  takes: {
    "<files...>": ".ts or .tsx files",
    "--force": "overwrite newer changes on the server",
  },
  async run(context, { files, force = false }) {
    const { client, server } = await context.connect()
    const states = new Map<string, FolderState>()
    const stateOf = (folder: string) => {
      const state = states.get(folder) ?? openFolderState(folder, server.url)
      states.set(folder, state)
      return state
    }
    return forEachOne(context.output, files, async (path) => {
      const state = stateOf(dirname(path))
      const pushed = await pushFile(client, state, path, force)
      // After each file: an interrupted push must not conflict with its own saves later.
      state.save()
      context.output.print({
        ...toSaved(pushed.val, pushed.isNew ? "Saved" : "Unchanged:"),
        json: { file: path, val: pushed.val },
      })
    })
  },
})
