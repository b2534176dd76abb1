import { relative } from "node:path"
import { type ConvertDeps, convertOldFiles } from "../../account/convert-files.ts"
import { findOldFiles } from "../../account/old-files.ts"
import { CliError } from "../../cli-error.ts"
import type { ExitName } from "../../exit-codes.ts"
import { limits } from "../../limits.ts"
import type { Connection, Me } from "../../servers/connection.ts"
import { confirm } from "../../shapes.ts"
import { canAsk } from "../../terminal/ask.ts"
import { addResults, toSyncExit } from "../../watch/sync-result.ts"

/**
 * Converts a folder in which each val is a file, after a question. `hasLoose`: also files that the
 * folder has not recorded. The exit code tells of conflicts too.
 */
export async function convertWhenAsked(
  deps: Omit<ConvertDeps, "owner" | "callerId">,
  connection: Connection,
  options: {
    /** The owner of the vals, if that is another user. */
    readonly owner?: Me
    readonly hasLoose: boolean
    readonly yes: true | undefined
  },
): Promise<{ readonly isComplete: boolean; readonly exit: ExitName | undefined }> {
  const { hasLoose, yes } = options
  const old = findOldFiles(deps.folder, deps.serverUrl, hasLoose)
  const { size } = old.files
  if (size + old.gone.size === 0) return { isComplete: true, exit: undefined }
  const name = relative("", deps.folder) || "."
  const files = size === 1 ? "1 file" : `${size} files`
  if (size > 0 && !yes && !canAsk())
    throw new CliError(
      "usage",
      `Cannot use "${name}" yet: ${files} in it must be converted, because each val has a folder now`,
      {
        advice: `convert them with "--yes", which moves them to .hamlet/trash, or list what is no val in .hamletignore`,
      },
    )
  if (size > 0)
    await confirm(
      `Each val has a folder now. Convert ${files} in "${name}", and move them to .hamlet/trash?`,
      { yes },
    )
  // Not before: the server may not respond yet.
  const me = await connection.me()
  const converting = { ...deps, owner: options.owner ?? me, callerId: me.id }
  let converted = await convertOldFiles(converting, old)
  // Files or vals have changed meanwhile.
  for (let round = 1; converted.isRaced && round < limits.watchRoundsMax; round++) {
    const again = findOldFiles(deps.folder, deps.serverUrl, hasLoose)
    converted = addResults(
      { ...converted, isRaced: false },
      await convertOldFiles(converting, again),
    )
  }
  const isComplete = converted.exit === undefined && !converted.isRaced && !deps.isStopping()
  return { isComplete, exit: toSyncExit(converted) }
}
