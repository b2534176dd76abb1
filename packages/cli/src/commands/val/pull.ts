import { relative } from "node:path"
import { hasMoreFiles, listNested, pullNested } from "../../checkout/account-trees.ts"
import { findCheckoutFolder } from "../../checkout/checkout-state.ts"
import { createTreeDeps, openCheckout } from "../../checkout/open-checkout.ts"
import { compareFolder, pullTree } from "../../checkout/sync-tree.ts"
import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import type { ExitName } from "../../exit-codes.ts"
import { type FolderState, openFolderState } from "../../files/folder-state.ts"
import { type PulledVal, pullVal } from "../../files/pull-val.ts"
import { assertNotMerging } from "../../merging/merge-state.ts"
import { findVal } from "../../names/find-val.ts"
import { forEachOne } from "../../output/for-each-one.ts"
import type { Output } from "../../output/output.ts"
import { withLockedFolder } from "../../watch/lock-folder.ts"
import { toSyncExit } from "../../watch/sync-result.ts"
import { printTree, withoutWrites } from "./trees.ts"

export const command = defineCommand({
  description: `Writes each val to a file named after it, with its name, privacy and type in the first line. Without names,
updates the vals that were pulled to or pushed from the folder before. Files with local changes are not
overwritten. The readme of hello.ts is in hello.ts.README.md. A val with several files gets a folder.

In the folder of one val, fetches its newest version: files that changed only there are written, your own
changes stay, and where both sides have changed, the file gets the val's text, and its previous text goes to a
conflict file beside it.`,
  examples: [
    ["hamlet val pull hello", "write your val hello to hello.ts"],
    [
      "hamlet val pull ada/hello@3 --dir examples",
      "write a version of another user's val to a folder",
    ],
    ["hamlet val pull", "update the vals in this folder, or the files of its val"],
  ],
  takes: {
    "[vals...]": "names of the vals",
    "-d, --dir <folder>": { help: "folder to write to", default: "." },
    "--force":
      "overwrite files with local changes; in the folder of one val, they go to .hamlet/trash",
  },
  async run(context, { vals, dir, force = false }) {
    if (vals.length === 0 && findCheckoutFolder(dir) !== undefined)
      return pullCheckout(context, dir, force)
    const connection = await context.connect()
    const { client, server } = connection
    const state = openFolderState(dir, server.url)
    const nested = listNested(dir)
    const names = vals.length > 0 ? vals : listKnown(state, nested)
    const deps = withoutWrites(createTreeDeps(context, { client, folder: dir }))
    try {
      return await forEachOne(context.output, names, async (name) => {
        const { val, version } = await findVal(connection, name)
        const isFolder =
          version === undefined && (nested.has(val.id) || (await hasMoreFiles(client, val)))
        if (!isFolder) return printPulled(context.output, pullVal(state, val, force))
        const pulled = await pullNested(deps, state, server.url, val, force)
        printTree(context.output, pulled.path, pulled)
      })
    } finally {
      if (state.files.size > 0) state.save()
    }
  },
})

/** Fetches the newest version of the val of a folder. */
async function pullCheckout(
  context: Context,
  dir: string,
  force: boolean,
): Promise<ExitName | undefined> {
  const open = await openCheckout(context, dir)
  return withLockedFolder(open.folder, async () => {
    assertNotMerging(open.folder)
    const deps = createTreeDeps(context, open)
    const compared = await compareFolder(deps)
    for (const [file, text] of compared.remote.refused)
      deps.report({ action: "problem", file, text })
    const pulled = await pullTree(deps, compared, force)
    if (context.output.mode === "human") printTree(context.output, open.folder, pulled)
    return toSyncExit(pulled, compared.remote.refused.size > 0)
  })
}

function listKnown(state: FolderState, nested: ReadonlyMap<string, string>): readonly string[] {
  const ids = [...[...state.files.values()].map(({ id }) => id), ...nested.keys()]
  if (ids.length > 0) return ids
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
