import { existsSync } from "node:fs"
import { join, relative } from "node:path"
import { CliError } from "../cli-error.ts"
import { toFullName, type Val } from "../names/find-val.ts"
import { type FolderState, toFileState } from "./folder-state.ts"
import { findValPath, hashText, readText, toValFileText } from "./val-file.ts"
import { writeFileWhole } from "./write-file.ts"

/** What became of a file. */
export interface PulledVal {
  readonly val: Val
  readonly path: string
  readonly isChanged: boolean
}

/** Writes a val into its file in the folder. A file with changes of its own is left alone, unless `isForced`. */
export function pullVal(state: FolderState, val: Val, isForced: boolean): PulledVal {
  const known = [...state.files].find(([, file]) => file.id === val.id)?.[0]
  const path = known === undefined ? findValPath(state.folder, val) : join(state.folder, known)
  const text = toValFileText(val)
  const before = existsSync(path) ? readText(path) : undefined
  const isOwnChange = before !== undefined && before !== text && state.get(path)?.hash !== hashText(before)
  if (isOwnChange && !isForced)
    throw new CliError("conflict", `Cannot write ${toFullName(val)} into "${relative("", path)}": the file has changes of its own`, {
      advice: '"hamlet val push" saves them, "--force" overwrites them',
    })
  if (before !== text) writeFileWhole(path, text)
  state.set(path, toFileState(val, hashText(text)))
  return { val, path, isChanged: before !== text }
}
