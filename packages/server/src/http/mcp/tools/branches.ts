import { branchName, fileContent, filePath, limits, privacy, text, valName } from "@hamlet/contract"
import { ApiError } from "@hamlet/contract/client"
import { z } from "zod"
import { branchArgument, findNamedBranch } from "../find-branch.ts"
import { findValId, valArgument } from "../find-val.ts"
import { truncate } from "../text-pages.ts"
import { defineTool, toolLimits } from "../tool.ts"
import { toValSummary, valSummary } from "../val-view.ts"

const noteArgument = text(limits.noteCharsMax).optional().describe("What the version is for")
const side = z.string().nullable().describe("A text, its beginning if it is long; null: no file")

const mergeBranch = defineTool({
  name: "merge_branch",
  title: "Merge a branch",
  description:
    "Takes the changes of a branch into the branch that it was made from, usually main, in one version. With conflicts nothing changes, and they are returned: decide about each with the user, then call it again with resolved.",
  scopes: ["val:read", "val:write"],
  effect: "destroy",
  input: z.object({
    val: valArgument,
    branch: branchName.describe("The branch to merge"),
    into: z
      .enum(["parent", "branch"])
      .optional()
      .describe("branch: it gets the changes of its parent instead"),
    resolved: z
      .array(
        z.union([
          z.object({ path: filePath, content: fileContent }),
          z.object({ path: filePath, delete: z.literal(true) }),
        ]),
      )
      .max(limits.fileChangesMax)
      .optional()
      .describe("What the paths in conflict contain afterwards"),
    note: noteArgument,
  }),
  output: z.object({
    version: z.int().describe("Of the branch that has the changes, or would get them"),
    isNewVersion: z.boolean(),
    conflicts: z
      .array(z.object({ path: z.string(), base: side, ours: side, theirs: side }))
      .describe("base: before both changes; ours: of the branch that gets them; theirs: the other"),
    conflictCount: z.int(),
  }),
  async run(context, { val, branch: named, ...body }) {
    const { valId, branch } = await findNamedBranch(context, val, named)
    try {
      const { version, isNewVersion } = await context.client.mergeBranch({
        val_id: valId,
        branch_id: branch.id,
        ...body,
      })
      return { data: { version, isNewVersion, conflicts: [], conflictCount: 0 } }
    } catch (error) {
      if (!(error instanceof ApiError) || !error.merge) throw error
      const { conflicts, conflictCount, version } = error.merge
      return {
        data: { version, isNewVersion: false, conflicts: toShown(conflicts), conflictCount },
      }
    }
  },
})

type Conflicts = NonNullable<ApiError["merge"]>["conflicts"]

/** The first conflicts, as far as their texts fit. */
function toShown(conflicts: Conflicts): Conflicts[number][] {
  const shown: Conflicts[number][] = []
  let chars = 0
  const cut = (value: string | null) => value && truncate(value, toolLimits.valueCharsMax)
  for (const { path, base, ours, theirs } of conflicts) {
    const one = { path, base: cut(base), ours: cut(ours), theirs: cut(theirs) }
    chars += [one.base, one.ours, one.theirs].reduce((sum, it) => sum + (it?.length ?? 0), 0)
    if (shown.length > 0 && chars > toolLimits.textCharsMax) break
    shown.push(one)
  }
  return shown
}

const restoreVersion = defineTool({
  name: "restore_version",
  title: "Restore an earlier version",
  description:
    "Makes the files of one of your vals what they were in an earlier version, all of them or those at a path, as the next version. list_versions shows the numbers.",
  scopes: ["val:read", "val:write"],
  effect: "destroy",
  input: z.object({
    val: valArgument,
    version: z.int().min(0).describe("The version whose files come back"),
    path: filePath.optional().describe("Only this file or directory"),
    branch: branchArgument,
    note: noteArgument,
  }),
  output: z.object({ branch: z.string(), version: z.int(), isNewVersion: z.boolean() }),
  async run(context, { val, branch: named, ...rest }) {
    const { valId, branch } = await findNamedBranch(context, val, named)
    const { version, isNewVersion } = await context.client.restoreFiles({
      val_id: valId,
      branch_id: branch.id,
      ...rest,
    })
    return { data: { branch: branch.name, version, isNewVersion } }
  },
})

const forkVal = defineTool({
  name: "fork_val",
  title: "Fork a val",
  description:
    "Copies a val that you may see, with all its files, to a new val of yours, which is private unless you say otherwise. Secrets, data and schedules are not copied.",
  scopes: ["val:read", "val:write"],
  effect: "write",
  input: z.object({
    val: valArgument,
    name: valName.optional().describe("The name of the copy; without it, that of the original"),
    privacy: privacy.optional().describe("public, unlisted or private"),
    version: z.int().min(0).optional().describe("Without it, the current version"),
  }),
  output: valSummary,
  async run(context, { val, ...body }) {
    const val_id = await findValId(context, val)
    return { data: toValSummary(await context.client.forkVal({ val_id, ...body })) }
  },
})

/** Merging, restoring and copying. */
export const branchTools = [mergeBranch, restoreVersion, forkVal]
