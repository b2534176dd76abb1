import { mkdirSync } from "node:fs"
import { join, relative } from "node:path"
import { inFolder, toSource } from "../../account/account-steps.ts"
import { findFreeFolder } from "../../account/val-folders.ts"
import { toCheckoutName } from "../../checkout/checkout-state.ts"
import { cloneInto } from "../../checkout/open-checkout.ts"
import type { PulledTree, TreeDeps } from "../../checkout/sync-tree.ts"
import type { Context } from "../../context.ts"
import type { ExitName } from "../../exit-codes.ts"
import { assertNotMerging } from "../../merging/merge-state.ts"
import type { Val } from "../../names/find-val.ts"
import type { Output } from "../../output/output.ts"
import { withLockedFolder } from "../../watch/lock-folder.ts"
import { toSyncExit } from "../../watch/sync-result.ts"

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

/** Writes the newest files of a val to its folder in the folder of an account. */
export async function pullInto(
  { output }: Context,
  deps: TreeDeps,
  options: {
    readonly server: string
    readonly val: Val
    /** The names of the folders of vals, by the id of the val. */
    readonly folders: ReadonlyMap<string, string>
    readonly isForced: boolean
  },
): Promise<ExitName | undefined> {
  const { server, val, folders, isForced } = options
  const name = folders.get(val.id) ?? findFreeFolder(deps.folder, val.name)
  const path = join(deps.folder, name)
  const source = toSource(server, val, val.author.username)
  const { onFetch } = deps
  mkdirSync(path, { recursive: true })
  return withLockedFolder(path, async () => {
    assertNotMerging(path)
    const pulled = await cloneInto(
      withoutWrites({ ...inFolder(deps, name), onFetch }),
      source,
      isForced,
    )
    printTree(output, path, pulled)
    return toSyncExit(pulled)
  })
}
