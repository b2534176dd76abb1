import { ApiError, type Client, type Input, type Output } from "@hamlet/contract/client"
import { findTarget, targetHelp } from "../../checkout/find-target.ts"
import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"
import { limits } from "../../limits.ts"
import { findBranch } from "../../names/find-branch.ts"
import { toFullName } from "../../names/find-val.ts"

const sides = ["ours", "theirs"] as const

export const command = defineCommand({
  description: `Takes what has changed on a branch into the branch that it was made from, in one version. Changes of
different lines are merged. If both have changed the same lines, nothing is merged and the files are named:
merge them in the web app, or take one side of them all with --take.`,
  examples: [
    ["hamlet branch merge blog draft -m 'Dark mode'", "merge a branch into its parent"],
    ["hamlet branch merge blog draft --from-parent", "bring a branch up to date"],
    ["hamlet branch merge blog draft --take theirs", "in conflicts, take the texts of draft"],
  ],
  takes: {
    "<val>": targetHelp,
    "<branch>": "name of the branch",
    "-m, --message <text>": "note for the version",
    "--from-parent": "take the changes of the parent into the branch instead",
    "--take <side>": {
      help: "in conflicts, keep the text that changes are merged into (ours), or take the other (theirs)",
      choices: sides,
    },
  },
  async run({ connect, output }, { val: text, branch: name, message, fromParent, take }) {
    const connection = await connect()
    const { val } = await findTarget(connection, text)
    const { id } = await findBranch(connection.client, val.id, name)
    const into = fromParent ? "branch" : "parent"
    const input = { val_id: val.id, branch_id: id, into, note: message } as const
    const merged = await merge(connection.client, input, take)
    const what = fromParent ? `its parent into ${name}` : `${name} into its parent`
    output.print({
      json: merged,
      plain: String(merged.version),
      human: merged.isNewVersion
        ? `Merged ${what}: ${toFullName(val)}, version ${merged.version}`
        : `Unchanged: there is nothing to merge of ${what}`,
    })
  },
})

/** The server names the first conflicts only: their files are resolved until there are no more. */
async function merge(
  client: Client,
  input: Input<"mergeBranch">,
  take: (typeof sides)[number] | undefined,
): Promise<Output<"mergeBranch">> {
  const resolved = new Map<string, string | null>()
  for (;;) {
    try {
      const decisions = [...resolved].map(([path, content]) =>
        content === null ? ({ path, delete: true } as const) : { path, content },
      )
      return await client.mergeBranch({ ...input, resolved: decisions })
    } catch (error) {
      const found = error instanceof ApiError ? error.merge : undefined
      if (!found) throw error
      const open = found.conflicts.filter(({ path }) => !resolved.has(path))
      if (take === undefined || open.length === 0) throw toConflict(error, found)
      for (const conflict of open) resolved.set(conflict.path, conflict[take])
      if (resolved.size > limits.watchFilesMax) throw error
    }
  }
}

function toConflict(
  cause: unknown,
  { conflicts, conflictCount }: NonNullable<ApiError["merge"]>,
): CliError {
  const more = conflictCount - conflicts.length
  const paths = conflicts.map(({ path }) => `"${path}"`).join(", ")
  return new CliError(
    "conflict",
    `Cannot merge: both branches have changed the same lines of ${paths}${more > 0 ? ` and ${more} more` : ""}`,
    { cause, advice: 'merge them in the web app, or take one side with "--take"' },
  )
}
