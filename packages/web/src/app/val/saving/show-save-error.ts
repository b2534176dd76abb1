import { ApiError } from "@hamlet/contract/client"
import { showError } from "../../frame/toast-list.ts"
import type { ValEditing } from "../code/val-editing.ts"

/** Reports why a save failed, unless a dialog does: for a conflict, or an ended session. */
export function showSaveError(editing: ValEditing): void {
  const saving = editing.saving.peek()
  if (
    saving.kind === "failed" &&
    !(saving.error instanceof ApiError && saving.error.status === 401)
  )
    showError(saving.error)
}
