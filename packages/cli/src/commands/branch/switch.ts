import { saveCheckout } from "../../checkout/checkout-state.ts"
import { createTreeDeps, openCheckout } from "../../checkout/open-checkout.ts"
import { isValStep } from "../../checkout/plan-tree.ts"
import { createTreeScanner } from "../../checkout/scan-tree.ts"
import { compareTree, pullTree } from "../../checkout/sync-tree.ts"
import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"
import { assertNotMerging } from "../../merging/merge-state.ts"
import { findBranch } from "../../names/find-branch.ts"
import { sweepFolder } from "../../watch/actions/replace-file.ts"
import { lockFolder } from "../../watch/lock-folder.ts"
import { printTree, toPullExit, withoutWrites } from "../val/trees.ts"

export const command = defineCommand({
  description: `Writes the files of another branch of the val to its folder; from then on "hamlet val pull", "push" and
"watch" mean that branch. Refused while files have changes that are not saved. Files that the other branch does
not have move to .hamlet/trash.`,
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
    const unlock = lockFolder(folder)
    try {
      sweepFolder(folder)
      assertNotMerging(folder)
      const { val, branch } = checkout
      const { id } = create
        ? await client.createBranch({ val_id: val.id, name, branchId: branch.id })
        : await findBranch(client, val.id, name)
      const deps = withoutWrites(createTreeDeps(context, open))
      const scanner = createTreeScanner(folder, 0)
      if (!force && !create)
        assertSaved((await compareTree(deps, scanner.scan(checkout.files.keys()))).steps)
      // First: if this is interrupted, the files must not be saved to the branch that they left.
      saveCheckout(folder, { ...checkout, branch: { id, name }, version: null })
      const compared = await compareTree(deps, scanner.scan(checkout.files.keys()))
      const pulled = await pullTree(deps, compared, force)
      printTree(context.output, folder, pulled)
      return toPullExit(pulled)
    } finally {
      unlock()
    }
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
