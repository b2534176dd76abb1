import { useSignal } from "@preact/signals"
import { toAgo } from "../../parts/time.ts"
import type { ValTabProps } from "../val-tab-props.ts"
import type { LeftDraft } from "./draft.ts"

/**
 * Says that unsaved text was found, in this tab or left behind by one that is gone, and offers to
 * take it up or to forget it.
 */
export function DraftNotice({ editing }: Pick<ValTabProps, "editing">) {
  const isKept = useSignal(false)
  const { restored } = editing
  if (restored && !isKept.value && editing.isDirty.value)
    return (
      <p class="notice" role="status">
        <span>
          This is what you had typed {toAgo(new Date(restored.at).toISOString())} and not saved.
        </span>
        <span class="notice-actions">
          <button
            type="button"
            class="link-button"
            onClick={() => {
              isKept.value = true
            }}
          >
            Keep it
          </button>
          <button
            type="button"
            class="link-button"
            onClick={() => {
              editing.takeSaved()
              isKept.value = true
            }}
          >
            Back to what is saved
          </button>
        </span>
      </p>
    )
  const left = editing.left.value
  if (!left) return null
  return (
    <p class="notice" role="status">
      <span>{describe(left)}</span>
      <span class="notice-actions">
        <button type="button" class="link-button" onClick={() => editing.takeLeft(left)}>
          Bring it back
        </button>
        <button type="button" class="link-button" onClick={() => editing.forgetLeft(left)}>
          Forget it
        </button>
      </span>
    </p>
  )
}

function describe({ at, isAside }: LeftDraft): string {
  const ago = toAgo(new Date(at).toISOString())
  return isAside
    ? `Your unsaved text was put aside ${ago}.`
    : `Another tab was closed ${ago} with unsaved text of this val.`
}
