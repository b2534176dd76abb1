import { ApiError, type Client, type Input, type Output } from "@hamlet/contract/client"
import { CliError } from "../cli-error.ts"
import { limits } from "../limits.ts"

type Found = NonNullable<ApiError["merge"]>

/** A file that both branches have changed, with its texts. */
export type Conflict = Found["conflicts"][number]

/** Which side of a conflict is taken: that of the branch that gets the changes, or the other. */
export const sides = ["ours", "theirs"] as const

/** One of them. */
export type Side = (typeof sides)[number]

/** Merges, and in conflicts takes one side. The server names the first conflicts only. */
export async function mergeTaking(
  client: Client,
  input: Input<"mergeBranch">,
  side: Side | undefined,
  advice: string,
): Promise<Output<"mergeBranch">> {
  const decided = new Map<string, string | null>()
  for (;;) {
    try {
      return await client.mergeBranch({ ...input, resolved: toResolved(decided) })
    } catch (error) {
      const found = error instanceof ApiError ? error.merge : undefined
      if (!found) throw error
      const open = found.conflicts.filter(({ path }) => !decided.has(path))
      if (side === undefined || open.length === 0) throw toConflictError(error, found, advice)
      for (const conflict of open) decided.set(conflict.path, conflict[side])
      if (decided.size > limits.watchFilesMax) throw error
    }
  }
}

/**
 * Fetches all conflicts of a merge that was refused. While one of them is not decided, the server
 * merges nothing, and names more of the others.
 */
export async function fetchConflicts(
  client: Client,
  input: Input<"mergeBranch">,
  first: Found,
): Promise<readonly Conflict[]> {
  const all = new Map(first.conflicts.map((one) => [one.path, one]))
  let found = first
  while (found.conflictCount > found.conflicts.length) {
    const known = all.size
    const [, ...others] = [...all.values()].sort((a, b) => countChars(a) - countChars(b))
    const decided = new Map(others.map(({ path, ours }) => [path, ours]))
    const { version, sourceVersion } = first
    try {
      await client.mergeBranch(
        { ...input, sourceVersion, resolved: toResolved(decided) },
        { ifMatch: version },
      )
      throw new CliError("failed", "Cannot merge: the server has merged without all decisions")
    } catch (error) {
      if (!(error instanceof ApiError && error.merge)) throw error
      found = error.merge
    }
    for (const one of found.conflicts) all.set(one.path, one)
    if (all.size === known)
      throw new CliError("failed", "Cannot merge here: the texts of the conflicts are too long", {
        advice: 'merge them in the web app, or take one side with "--take"',
      })
  }
  return [...all.values()]
}

/** The failure that names the conflicts. */
export function toConflictError(
  cause: unknown,
  { conflicts, conflictCount }: Found,
  advice: string,
): CliError {
  const more = conflictCount - conflicts.length
  const paths = conflicts.map(({ path }) => `"${path}"`).join(", ")
  return new CliError(
    "conflict",
    `Cannot merge: both branches have changed the same lines of ${paths}${more > 0 ? ` and ${more} more` : ""}`,
    { cause, advice },
  )
}

function toResolved(
  decided: ReadonlyMap<string, string | null>,
): NonNullable<Input<"mergeBranch">["resolved"]> {
  return [...decided].map(([path, content]) =>
    content === null ? ({ path, delete: true } as const) : { path, content },
  )
}

function countChars({ base, ours, theirs }: Conflict): number {
  return [base, ours, theirs].reduce((sum, text) => sum + (text?.length ?? 0), 0)
}
