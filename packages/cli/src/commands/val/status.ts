import { toCheckoutName } from "../../checkout/checkout-state.ts"
import { createTreeDeps, openCheckout } from "../../checkout/open-checkout.ts"
import { isValStep, type Step } from "../../checkout/plan-tree.ts"
import { compareFolder } from "../../checkout/sync-tree.ts"
import { defineCommand } from "../../command.ts"
import { findMerge } from "../../merging/merge-state.ts"
import { stepActions } from "../../watch/sync-event.ts"

export const command = defineCommand({
  description: `Compares the folder of one val with its branch: what "hamlet val push" would save, what "hamlet val pull"
would write, and what cannot be saved.`,
  examples: [
    ["hamlet val status", "compare this folder with its val"],
    ["hamlet val status --json", "one JSON object per file that differs"],
  ],
  takes: { "-d, --dir <folder>": { help: "folder of the val", default: "." } },
  async run(context, { dir }) {
    const { output } = context
    const open = await openCheckout(context, dir)
    const deps = createTreeDeps(context, open)
    const { checkout, remote, steps, problems } = await compareFolder(deps)
    const merge = findMerge(open.folder)
    if (merge)
      output.note(
        `Merging ${merge.theirs} into ${merge.ours}: conflicts in ${merge.files.map(({ path }) => path).join(", ")}; "hamlet branch merge --continue" or "--abort" ends it`,
      )
    const rows = steps.flatMap(toRow)
    if (output.mode === "human")
      output.line(
        `${toCheckoutName(checkout)}@${remote.version}${rows.length === 0 && problems.size === 0 ? "  unchanged" : ""}`,
      )
    for (const row of rows) {
      if (output.mode === "json") output.json(row)
      else if (output.mode === "plain")
        output.line([row.side, row.action, row.file, row.other ?? ""].join("\t"))
      else
        output.line(
          `  ${output.colour[row.side === "folder" ? "green" : row.action === "conflict" ? "red" : "cyan"](`${row.side === "folder" ? "↑" : "↓"} ${row.word}`)}  ${row.file}${row.other === undefined ? "" : output.colour.dim(`  (was ${row.other})`)}`,
        )
    }
    for (const [file, text] of problems) deps.report({ action: "problem", file, text })
  },
})

interface Row {
  /** The side that has changed. */
  readonly side: "folder" | "val"
  readonly action: string
  readonly word: string
  readonly file: string
  readonly other?: string
}

function toRow(step: Step): readonly Row[] {
  const action = stepActions[step.kind]
  if (action === undefined) return []
  const side = isValStep(step) ? "folder" : "val"
  const word = words[step.kind] ?? action
  if (isValStep(step) && step.newPath !== undefined)
    return [{ side, action, word, file: step.newPath, other: step.path }]
  return [{ side, action, word, file: step.path }]
}

const words: Readonly<Partial<Record<Step["kind"], string>>> = {
  create: "new",
  save: "changed",
  delete: "deleted",
  move: "moved",
  write: "changed",
  carry: "moved",
  trash: "deleted",
  conflict: "changed on both sides",
  rescue: "deleted, and changed here",
}
