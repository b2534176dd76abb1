import { renameSync } from "node:fs"
import { join } from "node:path"
import { mergeLines } from "@hamlet/contract/merge-lines"
import { hashText } from "../files/val-file.ts"
import { limits } from "../limits.ts"
import {
  discardFile,
  type KeepDeps,
  overwriteFile,
  readFound,
  reportConflict,
} from "../watch/keep-texts.ts"
import type { StepResult } from "../watch/perform-steps.ts"
import { makeFile, moveFile, writeToTrash } from "../watch/replace-file.ts"
import type { SyncEvent } from "../watch/sync-event.ts"
import type { BaseFile, Checkout } from "./checkout-state.ts"
import { assertPlainParents, removeEmptyParents } from "./local-paths.ts"
import type { FolderStep } from "./plan-tree.ts"

/** Dependencies of the steps in a folder. */
export interface FolderStepDeps extends KeepDeps {
  readonly checkout: Checkout
  /** The version that the folder gets. */
  readonly version: number
  /** The recorded files, which the steps change. */
  readonly files: Map<string, BaseFile>
  /** Overwrite local changes, after they are in the trash. */
  readonly isForced: boolean
  /** The text of a file on the server. */
  getText(path: string): Promise<string>
  /** The recorded text of a file; undefined if there is none, or it is gone. */
  findBaseText(path: string): Promise<string | undefined>
}

/** Performs a step. */
export async function performFolderStep(
  deps: FolderStepDeps,
  step: FolderStep,
): Promise<StepResult> {
  const { folder, files } = deps
  const { path, here, hash, before, theirs } = step
  const val = { ...deps.checkout.val, version: deps.version }
  if (here !== undefined) assertPlainParents(folder, here)
  if (step.kind === "trash" || step.kind === "rescue") return discard(deps, step)
  if (!theirs) return "raced"
  assertPlainParents(folder, path)
  const text = step.kind === "carry" ? undefined : await deps.getText(path)
  const isMoved = here !== undefined && here !== path && here === before
  const target = isMoved || here === undefined ? path : here
  let isConflict = false
  let action: SyncEvent["action"] = isMoved ? (text === undefined ? "moved" : "renamed") : "wrote"
  if (here !== undefined && hash !== undefined) {
    const found = readFound(folder, { path: here, hash })
    if (found === undefined) return "raced"
    const base = step.kind === "conflict" ? await deps.findBaseText(before ?? path) : undefined
    const merged = deps.isForced ? undefined : merge(base, found, text)
    if (isMoved && !moveHere(folder, here, path, hash)) return "raced"
    if (step.kind === "conflict") {
      if (deps.isForced || merged !== undefined)
        writeToTrash(folder, target.replaceAll("/", "-"), found)
      else {
        reportConflict(deps, target, found, val, toNow(val))
        isConflict = true
      }
    }
    if (merged !== undefined) action = "merged"
    const next = merged ?? text
    const isNew = next !== undefined && hashText(next) !== hash
    const seen = { path: target, hash }
    if (isNew && overwriteFile(deps, seen, next, val, toNow(val)) === "raced") return "raced"
  } else if (text !== undefined && makeFile(folder, path, text) === "raced") return "raced"
  if (before !== undefined) files.delete(before)
  // A file that was moved here is still recorded at their path: the next round sees the move.
  files.set(path, theirs)
  if (!isConflict) deps.report({ action, file: target, other: isMoved ? here : undefined, val })
  return "done"
}

function toNow({ name, version }: { readonly name: string; readonly version: number }): string {
  return `the file now has version ${version} of ${name}`
}

/** The text with the changes of both sides; undefined if they are about the same lines. */
function merge(
  base: string | undefined,
  ours: string,
  theirs: string | undefined,
): string | undefined {
  if (base === undefined || theirs === undefined) return undefined
  return mergeLines({ base, ours, theirs }, limits.mergeEditsMax).text
}

function discard(
  { folder, files, checkout, isForced, report }: FolderStepDeps,
  { kind, path, here = path, hash = "" }: FolderStep,
): StepResult {
  const { id, name } = checkout.val
  const reason = kind === "rescue" && !isForced ? `the file was deleted from ${name}` : undefined
  const event = discardFile(folder, { path: here, hash }, { id, name }, reason)
  if (!event) return "raced"
  removeEmptyParents(folder, here)
  files.delete(path)
  report(event)
  return "done"
}

function moveHere(folder: string, from: string, to: string, hash: string): boolean {
  // Where case is ignored, both are the same file.
  if (from.toLowerCase() === to.toLowerCase()) renameSync(join(folder, from), join(folder, to))
  else if (moveFile(folder, from, to, hash) === "raced") return false
  removeEmptyParents(folder, from)
  return true
}
