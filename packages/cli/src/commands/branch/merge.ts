import type { Output } from "@hamlet/contract/client"
import { findCheckoutFolder } from "../../checkout/checkout-state.ts"
import { findTarget, ownVal } from "../../checkout/find-target.ts"
import { type OpenCheckout, openCheckout } from "../../checkout/open-checkout.ts"
import type { Branch } from "../../checkout/remote-tree.ts"
import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import type { ExitName } from "../../exit-codes.ts"
import { mergeTaking, type Side, sides } from "../../merging/conflicts.ts"
import { abortMerge, continueMerge, mergeIntoFolder } from "../../merging/merge-folder.ts"
import { findBranch } from "../../names/find-branch.ts"
import { toFullName } from "../../names/find-val.ts"
import { toSyncExit } from "../../watch/sync-result.ts"

export const command = defineCommand({
  description: `Takes what has changed on a branch into the branch that it was made from, in one version. Changes of
different lines are merged. If both have changed the same lines, nothing is saved.

In the folder of the branch that gets the changes, the files are then written too, and those with conflicts get
both texts between markers, as in Git: edit them, or delete them, and run it again with --continue, or give up with
--abort. In the folder of a branch, naming its parent brings the branch up to date. Elsewhere, --take decides all
conflicts for one side.`,
  examples: [
    ["hamlet branch merge draft -m 'Dark mode'", "merge a branch of the val of this folder"],
    ["hamlet branch merge --continue", "save the files whose conflicts you have resolved"],
    ["hamlet branch merge blog draft", "merge a branch of another val into its parent"],
    ["hamlet branch merge blog draft --from-parent", "bring a branch up to date"],
    ["hamlet branch merge blog draft --take theirs", "in conflicts, take the texts of draft"],
  ],
  takes: {
    "[val]": ownVal,
    "[branch]": "name of the branch",
    "-m, --message <text>": "note for the version",
    "--from-parent": "take the changes of the parent into the branch instead",
    "--take <side>": {
      help: "in conflicts, keep the text that changes are merged into (ours), or take the other (theirs)",
      choices: sides,
    },
    "--continue": { help: "save the files whose conflicts are resolved", conflicts: "abort" },
    "--abort": "restore the files of before the merge",
  },
  async run(context, options) {
    if (options.continue) return finish(context, options.message)
    if (options.abort) return abort(context)
    // One word alone is a branch of the val of the folder.
    const isNamed = options.branch !== undefined
    const [text, name] = isNamed ? [options.val ?? ".", options.branch] : [".", options.val]
    return merge(context, { ...options, text, name })
  },
})

interface Options {
  readonly text: string
  readonly name: string | undefined
  readonly message: string | undefined
  readonly fromParent: true | undefined
  readonly take: Side | undefined
}

async function merge(context: Context, options: Options): Promise<ExitName | undefined> {
  const { text, message, take } = options
  const connection = await context.connect()
  const { client } = connection
  const { val, branchName } = await findTarget(connection, text)
  const own = branchName === undefined ? undefined : await findBranch(client, val.id, branchName)
  const { branch, into } = await findDirection(options, own, (name) =>
    findBranch(client, val.id, name),
  )
  const parent =
    branch.forkedBranchId === null
      ? undefined
      : await client.getBranch({ val_id: val.id, branch_id: branch.forkedBranchId })
  const [from, to] = into === "parent" ? [branch, parent] : [parent, branch]
  const what = `${from?.name ?? "its parent"} into ${to?.name ?? "its parent"}`
  const name = toFullName(val)
  if (own && from && to?.id === own.id) {
    const names = { ours: to.name, theirs: from.name }
    const open = await openCheckout(context)
    const input = { branchId: branch.id, into, note: message, ...names }
    const { merged, pulled } = await mergeIntoFolder(context, open, input, take)
    print(context, what, name, merged)
    return toSyncExit(pulled)
  }
  const input = { val_id: val.id, branch_id: branch.id, into, note: message }
  const place = to ? `the folder of ${to.name}` : "its folder"
  const advice = `merge them in ${place} or in the web app, or take one side with "--take"`
  print(context, what, name, await mergeTaking(client, input, take, advice))
  return undefined
}

/** Which branch the request is about, and whether it gets the changes or its parent does. */
async function findDirection(
  { name, fromParent }: Options,
  own: Branch | undefined,
  find: (name: string) => Promise<Branch>,
): Promise<{ readonly branch: Branch; readonly into: "parent" | "branch" }> {
  if (name === undefined && !(own && fromParent))
    throw new CliError("usage", "Cannot merge: name a branch", {
      advice: 'see "hamlet branch list"',
    })
  const branch = name === undefined && own ? own : await find(name ?? "")
  if (fromParent) return { branch, into: "branch" }
  // As in Git, what is named comes into the branch of the folder.
  return own && own.forkedBranchId === branch.id
    ? { branch: own, into: "branch" }
    : { branch, into: "parent" }
}

async function finish(
  context: Context,
  message: string | undefined,
): Promise<ExitName | undefined> {
  const open = await openMerging(context)
  const { merged, pulled, state } = await continueMerge(context, open, message)
  const { username, name } = open.checkout.val
  print(context, `${state.theirs} into ${state.ours}`, `${username}/${name}`, merged)
  return toSyncExit(pulled)
}

async function abort(context: Context): Promise<ExitName | undefined> {
  const { theirs, ours } = await abortMerge(context, await openMerging(context))
  context.output.print({
    json: { aborted: true, from: theirs, into: ours },
    plain: ours,
    human: `Gave up the merge of ${theirs} into ${ours}`,
  })
  return undefined
}

function openMerging(context: Context): Promise<OpenCheckout> {
  if (findCheckoutFolder(".") === undefined)
    throw new CliError(
      "usage",
      "Cannot continue or abort a merge: this is not the folder of one val",
    )
  return openCheckout(context)
}

function print(
  { output }: Context,
  what: string,
  name: string,
  merged: Output<"mergeBranch">,
): void {
  output.print({
    json: merged,
    plain: String(merged.version),
    human: merged.isNewVersion
      ? `Merged ${what}: ${name}, version ${merged.version}`
      : `Unchanged: there is nothing to merge of ${what}`,
  })
}
