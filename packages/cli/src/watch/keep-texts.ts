import { readFileSync } from "node:fs"
import { join } from "node:path"
import { hashText } from "../files/val-file.ts"
import {
  type FileChangeResult,
  moveToTrash,
  replaceFile,
  writeConflictFile,
} from "./replace-file.ts"
import type { SyncEvent } from "./sync-event.ts"

/*
 * Changes of files that keep every text: what a file has had goes to a conflict file beside it or to
 * the trash.
 */

/** A file, as it was found. */
export interface SeenText {
  readonly path: string
  readonly hash: string
}

/** Dependencies of these changes. */
export interface KeepDeps {
  readonly folder: string
  report(event: SyncEvent): void
}

/** The text of a file, if it still has the hash that was found. */
export function readFound(folder: string, { path, hash }: SeenText): string | undefined {
  try {
    const text = readFileSync(join(folder, path), "utf8")
    return hashText(text) === hash ? text : undefined
  } catch {
    return undefined
  }
}

/** Saves the previous text of a file to a conflict file, and reports it. `now` is what it has. */
export function reportConflict(
  { folder, report }: KeepDeps,
  path: string,
  text: string,
  val: SyncEvent["val"],
  now: string,
): void {
  const other = writeConflictFile(folder, path, text)
  const sentence = `Cannot save "${path}": both the file and the val have changed; ${now}, and its previous text is in "${other}"`
  report({ action: "conflict", file: path, val, other, text: sentence })
}

/** Replaces a file. A text that another program writes in that instant is a conflict. */
export function overwriteFile(
  deps: KeepDeps,
  { path, hash }: SeenText,
  text: string,
  val: SyncEvent["val"],
  now: string,
): FileChangeResult {
  return replaceFile(deps.folder, path, hash, text, (late) =>
    reportConflict(deps, path, late, val, now),
  )
}

/**
 * Moves a file to the trash. With a `reason` it has changes that were not saved, and becomes a
 * conflict file too. Returns the event, or undefined if the file has changed meanwhile.
 */
export function discardFile(
  folder: string,
  found: SeenText,
  val: SyncEvent["val"],
  reason?: string,
): SyncEvent | undefined {
  const file = found.path
  const whole = readFound(folder, found)
  if (whole === undefined) return undefined
  const conflict = reason === undefined ? undefined : writeConflictFile(folder, file, whole)
  const trash = moveToTrash(folder, file)
  if (conflict === undefined) return { action: "trashed", file, val, other: trash }
  const text = `Cannot save "${file}": ${reason}; its text is in "${conflict}"`
  return { action: "conflict", file, val, other: conflict, text }
}
