import { useSignal } from "@preact/signals"
import { LazyDiffView } from "../../../editor/lazy.tsx"
import { sayDone } from "../../frame/toast-list.ts"
import { Dialog } from "../../parts/dialog.tsx"
import type { ValTabProps } from "../val-tab-props.ts"
import { saySaveFailed } from "./say-save-failed.ts"

/**
 * Somebody has saved the val while it was being changed here: shows both, and overwrites neither
 * before somebody has decided.
 */
export function ConflictDialog({ editing }: Pick<ValTabProps, "editing">) {
  const isBusy = useSignal(false)
  const saving = editing.saving.value
  if (saving.kind !== "conflict") return null
  const { theirs } = saving
  const later = () => {
    editing.saving.value = { kind: "idle" }
  }
  const saveMine = async () => {
    isBusy.value = true
    if (await editing.saveOverTheirs())
      sayDone(`Saved as version ${editing.val.peek().version}; version ${theirs.version} is kept`)
    else saySaveFailed(editing)
    isBusy.value = false
  }
  return (
    <Dialog title={`Version ${theirs.version} was saved meanwhile`} kind="wide" onClose={later}>
      <p>
        The val was changed elsewhere while you were typing. Nothing is lost, whatever you choose:
        version {theirs.version} stays in the history, and your text can be brought back. It differs
        from that version like this:
      </p>
      <div class="conflict-diff">
        <LazyDiffView
          before={theirs.code}
          after={editing.code.peek()}
          layout="inline"
          path={`${theirs.author.username}/${theirs.name}.tsx`}
          label={`Changes from version ${theirs.version} to what you have`}
        />
      </div>
      <div class="dialog-foot">
        <button type="button" class="button button-quiet" onClick={later}>
          Decide later
        </button>
        <button type="button" class="button button-quiet" onClick={() => editing.takeSaved(theirs)}>
          Take version {theirs.version}
        </button>
        <button
          type="button"
          class="button"
          disabled={isBusy.value}
          onClick={() => void saveMine()}
        >
          Save mine as a new version
        </button>
      </div>
    </Dialog>
  )
}
