import type { Client } from "@hamlet/contract/client"
import type { Branch } from "../checkout/remote-tree.ts"
import { CliError } from "../cli-error.ts"
import { limits } from "../limits.ts"

/** The branch that every val has. */
const defaultBranch = "main"

/** Finds a branch by its name, by default `main`. */
export async function findBranch(
  client: Client,
  valId: string,
  name: string = defaultBranch,
): Promise<Branch> {
  const branches = client.items("listBranches", { val_id: valId, limit: limits.pageItemsMax })
  for await (const branch of branches) if (branch.name === name) return branch
  throw new CliError("notFound", `Cannot find branch "${name}": the val has no such branch`, {
    advice: 'see "hamlet branch list"',
  })
}
