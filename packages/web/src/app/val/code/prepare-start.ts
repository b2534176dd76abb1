import type { DraftMode } from "../draft-mode/draft-mode.ts"
import type { ValEditing } from "./val-editing.ts"

/**
 * Makes the server have what Run should start: it saves, or in draft mode writes the unsaved files
 * where they can be previewed. Rejects when draft mode cannot.
 */
export async function prepareStart(
  editing: ValEditing,
  draftMode: DraftMode,
  isOwn: boolean,
): Promise<"ready" | "not saved" | "not parsable"> {
  if (!isOwn) return "ready"
  if (draftMode.isOn.peek()) {
    await draftMode.prepare()
    return "ready"
  }
  if (!(await editing.save())) return "not saved"
  return (await editing.parses()) ? "ready" : "not parsable"
}
