import { ApiError, createIdempotencyKey, type Input, type Output } from "@hamlet/contract/client"
import { api } from "../../api.ts"
import type { EditedFile } from "../files/edited-file.ts"
import { toChanges } from "../files/to-changes.ts"
import type { ValFiles } from "../files/val-files.ts"

/** A save as it was sent. Sent again with its key, it makes no second version. */
export interface SentSave {
  readonly edits: readonly SentEdit[]
  readonly input: Input<"changeFiles">
  readonly options: { readonly ifMatch: number; readonly idempotencyKey: string }
  readonly note: string | undefined
}

/** A file, and what was sent of it: the user may type more in the meantime. */
export interface SentEdit {
  readonly file: EditedFile
  readonly edit: ReturnType<EditedFile["toEdit"]>
}

/** What a save of a branch at a version sends now. */
export function toSave(
  files: ValFiles,
  place: { readonly val_id: string; readonly branch_id: string; readonly version: number },
  note: string | undefined,
): SentSave {
  const twice = files.findTwice()
  if (twice !== undefined)
    throw new Error(`Cannot save: two files have the path "${twice}"; rename one of them`)
  const { val_id, branch_id, version } = place
  const edits = files.changed.peek().map((file) => ({ file, edit: file.toEdit() }))
  const changes = [...toChanges(files.all.peek().map((file) => file.toEdit()))]
  return {
    edits,
    input: { val_id, branch_id, changes, ...(note ? { note } : {}) },
    options: { ifMatch: version, idempotencyKey: createIdempotencyKey() },
    note,
  }
}

export function sendSave({ input, options }: SentSave): Promise<Output<"changeFiles">> {
  return api.changeFiles(input, options)
}

/** Whether the user has changed nothing since. */
export function isUnchangedSince({ input }: SentSave, files: ValFiles): boolean {
  const changes = toChanges(files.all.peek().map((file) => file.toEdit()))
  return JSON.stringify(input.changes) === JSON.stringify(changes)
}

/** Whether a save was refused because the branch has a newer version. */
export function isConflict(error: unknown): boolean {
  return error instanceof ApiError && error.code === "version_conflict"
}
