import { renameSync } from "node:fs"
import { join } from "node:path"
import { hashText } from "../files/val-file.ts"
import { readFound } from "../watch/actions/action.ts"
import { reportConflict } from "../watch/actions/file-actions.ts"
import {
  makeFile,
  moveFile,
  moveToTrash,
  replaceFile,
  writeConflictFile,
  writeToTrash,
} from "../watch/actions/replace-file.ts"
import type { SyncEvent } from "../watch/sync-event.ts"
import type { BaseFile, Checkout } from "./checkout-state.ts"
import { assertPlainParents, removeEmptyParents } from "./local-paths.ts"
import type { FolderStep } from "./plan-tree.ts"

/** Dependencies of the steps in a folder. */
export interface FolderStepDeps {
  readonly folder: string
  readonly checkout: Checkout
  /** The version that the folder gets. */
  readonly version: number
  /** The recorded files, which the steps change. */
  readonly files: Map<string, BaseFile>
  /** Overwrite local changes, after they are in the trash. */
  readonly isForced: boolean
  /** The text of a file on the server. */
  getText(path: string): Promise<string>
  report(event: SyncEvent): void
}

/** Performs a step. Returns whether it is done; not if the file has changed meanwhile. */
export async function performFolderStep(deps: FolderStepDeps, step: FolderStep): Promise<boolean> {
  const { folder, files } = deps
  const { path, here, hash, before, theirs } = step
  const val = { ...deps.checkout.val, version: deps.version }
  if (here !== undefined) assertPlainParents(folder, here)
  if (step.kind === "trash" || step.kind === "rescue") return discard(deps, step)
  if (!theirs) return false
  assertPlainParents(folder, path)
  const text = step.kind === "carry" ? undefined : await deps.getText(path)
  const isMoved = here !== undefined && here !== path && here === before
  const target = isMoved || here === undefined ? path : here
  if (here !== undefined && hash !== undefined) {
    const found = readFound(folder, { path: here, hash })
    if (found === undefined) return false
    if (isMoved && !moveHere(folder, here, path, hash)) return false
    if (step.kind === "conflict") {
      if (deps.isForced) writeToTrash(folder, target.replaceAll("/", "-"), found)
      else reportConflict(deps, target, found, val)
    }
    if (text !== undefined && !replace(deps, target, hash, text, val)) return false
  } else if (text !== undefined && makeFile(folder, path, text) === "raced") return false
  if (before !== undefined) files.delete(before)
  // A file that was moved here is still recorded at their path: the next round sees the move.
  files.set(path, theirs)
  if (step.kind !== "conflict" || deps.isForced)
    deps.report({
      action: isMoved ? (text === undefined ? "moved" : "renamed") : "wrote",
      file: target,
      other: isMoved ? here : undefined,
      val,
    })
  return true
}

function discard(
  { folder, files, checkout, isForced, report }: FolderStepDeps,
  { kind, path, here = path, hash = "" }: FolderStep,
): boolean {
  const text = readFound(folder, { path: here, hash })
  if (text === undefined) return false
  const { id, name } = checkout.val
  const isKept = kind === "rescue" && !isForced
  const conflict = isKept ? writeConflictFile(folder, here, text) : undefined
  const trash = moveToTrash(folder, here)
  removeEmptyParents(folder, here)
  files.delete(path)
  if (conflict === undefined)
    report({ action: "trashed", file: here, val: { id, name }, other: trash })
  else
    report({
      action: "conflict",
      file: here,
      val: { id, name },
      other: conflict,
      text: `Cannot save "${here}": the file was deleted from ${name}; its text is in "${conflict}"`,
    })
  return true
}

function replace(
  deps: FolderStepDeps,
  path: string,
  hash: string,
  text: string,
  val: { readonly id: string; readonly name: string; readonly version: number },
): boolean {
  if (hashText(text) === hash) return true
  const onLate = (late: string) => reportConflict(deps, path, late, val)
  return replaceFile(deps.folder, path, hash, text, onLate) === "done"
}

function moveHere(folder: string, from: string, to: string, hash: string): boolean {
  // Where case is ignored, both are the same file.
  if (from.toLowerCase() === to.toLowerCase()) renameSync(join(folder, from), join(folder, to))
  else if (moveFile(folder, from, to, hash) === "raced") return false
  removeEmptyParents(folder, from)
  return true
}
