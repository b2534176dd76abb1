import { relative } from "node:path"
import { findAccount } from "../../account/account-state.ts"
import { listValFolders } from "../../account/val-folders.ts"
import { findCheckoutFolder } from "../../checkout/checkout-state.ts"
import { createTreeDeps, openCheckout } from "../../checkout/open-checkout.ts"
import { hasMoreFiles } from "../../checkout/remote-tree.ts"
import { compareFolder, pullTree } from "../../checkout/sync-tree.ts"
import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import type { ExitName } from "../../exit-codes.ts"
import { type FolderState, openFolderState } from "../../files/folder-state.ts"
import { type PulledVal, pullVal } from "../../files/pull-val.ts"
import { assertNotMerging } from "../../merging/merge-state.ts"
import { findVal, findWholeVal, toFullName } from "../../names/find-val.ts"
import { forEachOne } from "../../output/for-each-one.ts"
import type { Output } from "../../output/output.ts"
import type { Connection } from "../../servers/connection.ts"
import { withLockedFolder } from "../../watch/lock-folder.ts"
import { toSyncExit } from "../../watch/sync-result.ts"
import { printTree, pullInto } from "./trees.ts"

export const command = defineCommand({
  description: `Writes each val to a file named after it, with its name, privacy and type in the first line. Without names,
updates the vals that were pulled to or pushed from the folder before. Files with local changes are not
overwritten. The readme of hello.ts is in hello.ts.README.md. A val with several files has no such file: get it
with "hamlet val clone".

In the folder of an account, as "hamlet val watch" and "hamlet val clone USER" make it, updates the folders of the
vals; without names, all of them.

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
    if (findAccount(dir)) return pullAccount(context, connection, { dir, vals, force })
    const { client, server } = connection
    const state = openFolderState(dir, server.url)
    const names = vals.length > 0 ? vals : listKnown(state)
    try {
      return await forEachOne(context.output, names, async (name) => {
        const { val, version } = await findVal(connection, name)
        if (version === undefined && (await hasMoreFiles(client, val)))
          throw new CliError(
            "usage",
            `Cannot write ${toFullName(val)} to a file: it has several files`,
            { advice: `get its folder with "hamlet val clone ${toFullName(val)}"` },
          )
        printPulled(context.output, pullVal(state, val, force))
      })
    } finally {
      if (state.files.size > 0) state.save()
    }
  },
})

/** Fetches the newest versions of the vals of an account. */
async function pullAccount(
  context: Context,
  connection: Connection,
  options: { readonly dir: string; readonly vals: readonly string[]; readonly force: boolean },
): Promise<ExitName | undefined> {
  const { dir, vals, force } = options
  const { client, server } = connection
  const deps = createTreeDeps(context, { client, folder: dir })
  const folders = listValFolders(dir, new Set()).checkouts
  const names = vals.length > 0 ? vals : [...folders.keys()]
  let exit: ExitName | undefined
  const failed = await forEachOne(context.output, names, async (name) => {
    const val = await findWholeVal(connection, name)
    const one = await pullInto(context, deps, { server: server.url, val, folders, isForced: force })
    exit ??= one
  })
  return failed ?? exit
}

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

function listKnown(state: FolderState): readonly string[] {
  const ids = [...state.files.values()].map(({ id }) => id)
  if (ids.length > 0) return ids
  throw new CliError("usage", `Cannot pull without names: "${state.folder}" has no vals yet`, {
    advice: 'name a val, or download all of them with "hamlet val clone"',
  })
}

/** Prints which file was written. */
function printPulled(output: Output, { val, path, isChanged }: PulledVal): void {
  const file = relative("", path)
  output.print({
    json: { file, val },
    plain: file,
    human: `${isChanged ? "Wrote" : "Unchanged:"} ${file}  ${output.colour.dim(`${val.author.username}/${val.name}@${val.version}`)}`,
  })
}
