import { useSignal } from "@preact/signals"
import { setTo } from "../../../ui/bind.ts"
import { toAgo } from "../../parts/time.ts"
import type { ValTabProps } from "../val-tab-props.ts"
import type { RecoverableDraft } from "./draft.ts"

/** Reports unsaved text from before, of this tab or of a closed one, and offers to restore it. */
export function DraftNotice({ editing }: Pick<ValTabProps, "editing">) {
  const isKept = useSignal(false)
  const { restored } = editing
  if (restored && !isKept.value && editing.isDirty.value)
    return (
      <p class="notice" role="status">
        <span>This is your unsaved text from {toAgo(new Date(restored.at).toISOString())}.</span>
        <span class="notice-actions">
          <button type="button" class="link-button" onClick={setTo(isKept, true)}>
            Keep
          </button>
          <button
            type="button"
            class="link-button"
            onClick={() => {
              editing.takeSaved()
              isKept.value = true
            }}
          >
            Use the saved version
          </button>
        </span>
      </p>
    )
  const draft = editing.recoverable.value
  if (!draft) return null
  return (
    <p class="notice" role="status">
      <span>{describe(draft)}</span>
      <span class="notice-actions">
        <button type="button" class="link-button" onClick={() => editing.recover(draft)}>
          Restore
        </button>
        <button type="button" class="link-button" onClick={() => editing.discardDraft(draft)}>
          Discard
        </button>
      </span>
    </p>
  )
}

function describe({ at, isSetAside }: RecoverableDraft): string {
  const ago = toAgo(new Date(at).toISOString())
  return isSetAside
    ? `Your unsaved text was set aside ${ago}.`
    : `Another tab with unsaved text of this val was closed ${ago}.`
}
