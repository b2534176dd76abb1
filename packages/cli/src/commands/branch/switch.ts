import { saveCheckout } from "../../checkout/checkout-state.ts"
import { createTreeDeps, openCheckout } from "../../checkout/open-checkout.ts"
import { isValStep } from "../../checkout/plan-tree.ts"
import { compareFolder, pullTree } from "../../checkout/sync-tree.ts"
import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"
import { assertNotMerging } from "../../merging/merge-state.ts"
import { findBranch } from "../../names/find-branch.ts"
import { withLockedFolder } from "../../watch/lock-folder.ts"
import { toSyncExit } from "../../watch/sync-result.ts"
import { printTree, withoutWrites } from "../val/trees.ts"

export const command = defineCommand({
  description: `Writes the files of another branch of the val to its folder; from then on "hamlet val pull", "push" and
"watch" mean that branch. Refused while files have changes that are not saved. Files that the other branch does
not have move to .hamlet/trash. Those who can open the val can read a branch that you create.`,
  examples: [
    ["hamlet branch switch draft", "change this folder to the branch draft"],
    ["hamlet branch switch -c try", "create a branch, and take changes that are not saved there"],
    ["hamlet branch switch main --force", "discard changes, to .hamlet/trash"],
  ],
  takes: {
    "<branch>": "name of the branch",
    "-c, --create": "create the branch from that of the folder; changes of the folder stay",
    "-d, --dir <folder>": { help: "folder of the val", default: "." },
    "--force": "discard changes of the folder, to .hamlet/trash",
  },
  async run(context, { branch: name, create = false, dir, force = false }) {
    const open = await openCheckout(context, dir)
    const { folder, checkout, client } = open
    return withLockedFolder(folder, async () => {
      assertNotMerging(folder)
      const { val, branch } = checkout
      const { id } = create
        ? await client.createBranch({ val_id: val.id, name, branchId: branch.id })
        : await findBranch(client, val.id, name)
      const deps = withoutWrites(createTreeDeps(context, open))
      if (!force && !create) assertSaved((await compareFolder(deps)).steps)
      // First: if this is interrupted, the files must not be saved to the branch that they left.
      saveCheckout(folder, { ...checkout, branch: { id, name }, version: null })
      const pulled = await pullTree(deps, await compareFolder(deps), force)
      printTree(context.output, folder, pulled)
      return toSyncExit(pulled)
    })
  },
})

/** New files stay in the folder; changes of others would be mixed up. */
function assertSaved(steps: Parameters<typeof pullTree>[1]["steps"]): void {
  const changed = steps.find((step) => isValStep(step) && step.kind !== "create")
  if (changed)
    throw new CliError("conflict", `Cannot switch: "${changed.path}" has local changes`, {
      advice: 'save them with "hamlet val push", or discard them with "--force"',
    })
}
