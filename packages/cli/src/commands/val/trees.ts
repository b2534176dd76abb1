import { relative } from "node:path"
import { toCheckoutName } from "../../checkout/checkout-state.ts"
import type { PulledTree, TreeDeps } from "../../checkout/sync-tree.ts"
import type { Output } from "../../output/output.ts"

/** Reports everything but files that were written. */
export function withoutWrites<Deps extends Pick<TreeDeps, "report">>(deps: Deps): Deps {
  return { ...deps, report: (event) => event.action !== "wrote" && deps.report(event) }
}

/** Prints which folder has which version. */
export function printTree(
  output: Output,
  folder: string,
  { checkout, hasActed }: Pick<PulledTree, "checkout" | "hasActed">,
): void {
  const { val, branch, version, files } = checkout
  const path = relative("", folder) || "."
  output.print({
    json: { folder: path, val, branch, version, files: files.size },
    plain: path,
    human: `${hasActed ? "Wrote" : "Unchanged:"} ${path}  ${output.colour.dim(`${toCheckoutName(checkout)}@${version ?? "?"}, ${files.size} files`)}`,
  })
}
