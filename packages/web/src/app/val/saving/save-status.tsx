import { explain } from "../../data/explain.ts"
import type { ValTabProps } from "../val-tab-props.ts"

/** Whether the text in the editor is saved. */
export function SaveStatus({ editing }: Pick<ValTabProps, "editing">) {
  const saving = editing.saving.value
  const text =
    saving.kind === "saving"
      ? "Saving…"
      : saving.kind === "conflict"
        ? "Changed elsewhere"
        : saving.kind === "failed"
          ? "Not saved"
          : editing.isDirty.value
            ? "Unsaved changes"
            : editing.problem.value
              ? "Saved with an error"
              : "Saved"
  return (
    <span
      class={`save-status save-${!editing.isDirty.value && editing.problem.value ? "failed" : saving.kind}`}
      role="status"
      {...(saving.kind === "failed" ? { title: explain(saving.error) } : {})}
    >
      {text}
    </span>
  )
}
