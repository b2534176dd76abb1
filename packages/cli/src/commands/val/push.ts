import { dirname } from "node:path"
import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import type { ExitName } from "../../exit-codes.ts"
import { type FolderState, openFolderState } from "../../files/folder-state.ts"
import { pushFile } from "../../files/push-file.ts"
import { forEachOne } from "../../output/for-each-one.ts"
import { toSaved } from "../../vals.ts"

interface PushOptions {
  readonly files: readonly string[]
  readonly force?: boolean
}

export const command = defineCommand<PushOptions>({
  description: `A file's name is the name of the val; a first line "// hamlet: name=hello privacy=public type=http" says more, and is not part of the
code. A val that is not there is made. Where the file was pulled or pushed before, a val that somebody has changed since is not touched.
A file hello.ts.README.md beside hello.ts is its readme.`,
  examples: [
    ["hamlet val push hello.ts", "save one file"],
    ["hamlet val push *.ts *.tsx", "save a folder of them"],
    ["hamlet val push hello.ts --force", "whatever has happened to the val meanwhile"],
  ],
  configure: (command: Command) =>
    command
      .argument("<files...>", "files ending in .ts or .tsx")
      .option("--force", "save over what others have changed"),
  run: pushFiles,
})

async function pushFiles(
  context: Context,
  { files, force = false }: PushOptions,
): Promise<ExitName | undefined> {
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
    // After each one, so that nobody who breaks off is told later of a conflict with themselves.
    state.save()
    context.output.print({
      ...toSaved(pushed.val, pushed.isNew ? "Saved" : "Unchanged:"),
      json: { file: path, val: pushed.val },
    })
  })
}
