import { relative } from "node:path"
import type { Command } from "commander"
import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import type { ExitName } from "../../exit-codes.ts"
import { type FolderState, openFolderState } from "../../files/folder-state.ts"
import { type PulledVal, pullVal } from "../../files/pull-val.ts"
import { findVal } from "../../names/find-val.ts"
import { forEachOne } from "../../output/for-each-one.ts"
import type { Output } from "../../output/output.ts"

interface PullOptions {
  readonly vals: readonly string[]
  readonly dir: string
  readonly force?: boolean
}

export const command = defineCommand<PullOptions>({
  description: `Each val becomes a file of its name with a first line that says its name, privacy and type. Without names, what the folder has pulled
or pushed before is fetched again. A file with changes of its own is left alone. The readme of hello.ts is in hello.ts.README.md.`,
  examples: [
    ["hamlet val pull hello", "write your val hello into hello.ts"],
    ["hamlet val pull ada/hello@3 --dir examples", "a version of somebody's val, into a folder"],
    ["hamlet val pull", "what this folder has, as it is now"],
  ],
  configure: (command: Command) =>
    command
      .argument("[vals...]", "their names")
      .option("-d, --dir <folder>", "the folder to write to", ".")
      .option("--force", "write over files with changes of their own"),
  run: pullVals,
})

async function pullVals(
  context: Context,
  { vals, dir, force = false }: PullOptions,
): Promise<ExitName | undefined> {
  const connection = await context.connect()
  const state = openFolderState(dir, connection.server.url)
  const names = vals.length > 0 ? vals : listKnown(state)
  try {
    return await forEachOne(context.output, names, async (name) => {
      const { val } = await findVal(connection, name)
      printPulled(context.output, pullVal(state, val, force))
    })
  } finally {
    if (state.files.size > 0) state.save()
  }
}

function listKnown(state: FolderState): readonly string[] {
  if (state.files.size > 0) return [...state.files.values()].map(({ id }) => id)
  throw new CliError("usage", `Cannot tell which vals to pull: "${state.folder}" has none yet`, {
    advice: 'name one, or "hamlet val clone" fetches all of them',
  })
}

/** Says what was written where. */
export function printPulled(output: Output, { val, path, isChanged }: PulledVal): void {
  const file = relative("", path)
  output.print({
    json: { file, val },
    plain: file,
    human: `${isChanged ? "Wrote" : "Unchanged:"} ${file}  ${output.colour.dim(`${val.author.username}/${val.name}@${val.version}`)}`,
  })
}
