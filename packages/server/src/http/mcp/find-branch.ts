import { limits, text } from "@hamlet/contract"
import type { Output } from "@hamlet/contract/client"
import { findValId } from "./find-val.ts"
import { type ToolContext, ToolError, toolLimits } from "./tool.ts"

/** A branch as the API returns it. */
export type ApiBranch = Output<"listBranches">["data"][number]

/** The argument of a tool that names a branch. */
export const branchArgument = text(limits.branchNameCharsMax, 1)
  .optional()
  .describe("The name of a branch; without it main")

/** The val and the branch that an assistant names. */
export async function findNamedBranch(
  context: ToolContext,
  named: string,
  branch = "main",
): Promise<{ readonly valId: string; readonly branch: ApiBranch }> {
  const valId = await findValId(context, named)
  const { data } = await context.client.listBranches({
    val_id: valId,
    limit: limits.branchesPerValMax,
  })
  const found = data.find(({ name }) => name.toLowerCase() === branch.toLowerCase())
  if (!found) {
    const names = data.map(({ name }) => name).slice(0, toolLimits.pageItemsDefault)
    throw new ToolError(`Cannot find branch "${branch}": the val has ${names.join(", ")}`)
  }
  return { valId, branch: found }
}
