import { ApiError } from "@hamlet/contract/client"
import { sayFailed } from "../../frame/toast-list.ts"
import type { ValEditing } from "./val-editing.ts"

/**
 * Says why a val could not be saved, unless something else on the page says it already: a conflict,
 * or that the session has ended.
 */
export function saySaveFailed(editing: ValEditing): void {
  const saving = editing.saving.peek()
  if (
    saving.kind === "failed" &&
    !(saving.error instanceof ApiError && saving.error.status === 401)
  )
    sayFailed(saving.error)
}
