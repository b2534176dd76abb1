import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { type IsIgnored, readIgnoreRules } from "../checkout/ignore-rules.ts"
import { type FileState, openFolderState } from "../files/folder-state.ts"
import { isValFile } from "../files/val-file.ts"
import { findAccount } from "./account-state.ts"

/*
 * Older versions of this program wrote one file per val to the folder of an account, `hello.ts`, with the
 * settings of the val in its first line and its readme beside it.
 */

/** The files of an account's folder in which each val is a file. */
export interface OldFiles {
  /** Paths of files, with what the folder recorded of them. */
  readonly files: ReadonlyMap<string, FileState | undefined>
  /** Recorded paths whose file is gone. */
  readonly gone: ReadonlyMap<string, FileState>
}

/**
 * Finds the files that become folders. With `hasLoose`, also those that nothing has recorded: in a folder
 * without any record only beside the folders, which may be those of vals.
 */
export function findOldFiles(folder: string, serverUrl: string, hasLoose: boolean): OldFiles {
  const recorded = openFolderState(folder, serverUrl).files
  const files = new Map<string, FileState | undefined>()
  const gone = new Map<string, FileState>()
  for (const [path, state] of recorded)
    if (existsSync(join(folder, path))) files.set(path, state)
    else gone.set(path, state)
  const isOld = recorded.size > 0
  if (hasLoose && (isOld || !findAccount(folder)))
    for (const path of listLoose(folder, readIgnoreRules(folder), isOld))
      if (!files.has(path)) files.set(path, undefined)
  return { files, gone }
}

/** Files named like the code of a val. Folders of vals are left out, and so is what is ignored. */
function listLoose(
  folder: string,
  isIgnored: IsIgnored,
  isDeep: boolean,
  inner = "",
): readonly string[] {
  const entries = readdirSync(join(folder, inner), { withFileTypes: true })
  return entries.flatMap((entry) => {
    const path = inner === "" ? entry.name : `${inner}/${entry.name}`
    if (entry.name.startsWith(".") || isIgnored(entry.isDirectory() ? `${path}/` : path)) return []
    if (entry.isFile()) return isValFile(path) ? [path] : []
    const isFolder = isDeep && entry.isDirectory() && !existsSync(join(folder, path, ".hamlet"))
    return isFolder ? listLoose(folder, isIgnored, isDeep, path) : []
  })
}
