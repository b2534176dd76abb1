import { relative } from "node:path"
import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"
import { type FolderState, openFolderState } from "../../files/folder-state.ts"
import { type PulledVal, pullVal } from "../../files/pull-val.ts"
import { findVal } from "../../names/find-val.ts"
import { forEachOne } from "../../output/for-each-one.ts"
import type { Output } from "../../output/output.ts"

export const command = defineCommand({
  description: `Writes each val to a file named after it, with its name, privacy and type in the first line. Without names,
updates the vals that were pulled to or pushed from the folder before. Files with local changes are not
overwritten. The readme of hello.ts is in hello.ts.README.md.`,
  examples: [
    ["hamlet val pull hello", "write your val hello to hello.ts"],
    [
      "hamlet val pull ada/hello@3 --dir examples",
      "write a version of another user's val to a folder",
    ],
    ["hamlet val pull", "update the vals in this folder"],
  ],
  takes: {
    "[vals...]": "names of the vals",
    "-d, --dir <folder>": { help: "folder to write to", default: "." },
    "--force": "overwrite files with local changes",
  },
  async run(context, { vals, dir, force = false }) {
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
  },
})

function listKnown(state: FolderState): readonly string[] {
  if (state.files.size > 0) return [...state.files.values()].map(({ id }) => id)
  throw new CliError("usage", `Cannot pull without names: "${state.folder}" has no vals yet`, {
    advice: 'name a val, or download all of them with "hamlet val clone"',
  })
}

/** Prints which file was written. */
export function printPulled(output: Output, { val, path, isChanged }: PulledVal): void {
  const file = relative("", path)
  output.print({
    json: { file, val },
    plain: file,
    human: `${isChanged ? "Wrote" : "Unchanged:"} ${file}  ${output.colour.dim(`${val.author.username}/${val.name}@${val.version}`)}`,
  })
}
