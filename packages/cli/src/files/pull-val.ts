import { existsSync } from "node:fs"
import { join, relative } from "node:path"
import { CliError } from "../cli-error.ts"
import { toFullName, type Val } from "../names/find-val.ts"
import { moveToTrash } from "../watch/replace-file.ts"
import { type FileState, type FolderState, toFileState } from "./folder-state.ts"
import { findReadme, hashReadme, toReadmePath } from "./readme-file.ts"
import { findValPath, hashText, readText, toValFileText } from "./val-file.ts"
import { writeFileWhole } from "./write-file.ts"

/** The result of pulling a val. */
export interface PulledVal {
  readonly val: Val
  readonly path: string
  readonly isChanged: boolean
}

/**
 * Writes a val to its file in the folder, and its readme beside it. Files with local changes are
 * refused, unless `isForced`.
 */
export function pullVal(state: FolderState, val: Val, isForced: boolean): PulledVal {
  const known = [...state.files].find(([, file]) => file.id === val.id)?.[0]
  const path = known === undefined ? findValPath(state.folder, val) : join(state.folder, known)
  const readmePath = toReadmePath(path)
  const [text, before] = [toValFileText(val), existsSync(path) ? readText(path) : undefined]
  const [readme, readmeBefore] = [val.readme || undefined, findReadme(path)]
  const base = state.get(path)
  if (!isForced) {
    const isOwnChange = before !== undefined && before !== text && base?.hash !== hashText(before)
    if (isOwnChange) throw refuse(val, path)
    // A local readme does not conflict with a val that has none.
    const isNew =
      readmeBefore !== undefined &&
      readmeBefore !== readme &&
      base?.readmeHash !== hashReadme(readmeBefore)
    if (isNew && readme !== undefined) throw refuse(val, readmePath)
  }
  if (before !== text) writeFileWhole(path, text)
  const isReadmeChanged = pullReadme(state.folder, readmePath, readme, readmeBefore, base)
  state.set(path, toFileState(val, hashText(text), hashReadme(readme)))
  return { val, path, isChanged: before !== text || isReadmeChanged }
}

/** Returns whether anything changed. */
function pullReadme(
  folder: string,
  path: string,
  readme: string | undefined,
  before: string | undefined,
  base: FileState | undefined,
): boolean {
  if (readme === before) return false
  if (readme !== undefined) {
    writeFileWhole(path, readme)
    return true
  }
  // The val no longer has a readme. A file that was changed or created since stays for the next
  // push.
  if (base?.readmeHash !== hashReadme(before)) return false
  moveToTrash(folder, relative(folder, path))
  return true
}

function refuse(val: Val, path: string): CliError {
  return new CliError(
    "conflict",
    `Cannot write ${toFullName(val)} to "${relative("", path)}": the file has local changes`,
    {
      advice: 'save them with "hamlet val push", or overwrite them with "--force"',
    },
  )
}
