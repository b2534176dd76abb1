import { useSignal } from "@preact/signals"
import { setTo } from "../../../ui/bind.ts"
import { showDone } from "../../frame/toast-list.ts"
import { Button } from "../../parts/buttons/button.tsx"
import { DiffDialog } from "../diff-dialog.tsx"
import type { ValTabProps } from "../val-tab-props.ts"
import { showSaveError } from "./code-actions.ts"

/** The val was saved elsewhere: shows the difference, and overwrites nothing by itself. */
export function ConflictDialog({ editing }: Pick<ValTabProps, "editing">) {
  const isBusy = useSignal(false)
  const saving = editing.saving.value
  if (saving.kind !== "conflict") return null
  const { theirs } = saving
  const later = setTo(editing.saving, { kind: "idle" })
  const saveMine = async () => {
    isBusy.value = true
    if (await editing.saveOverTheirs())
      showDone(`Saved as version ${editing.val.peek().version}; version ${theirs.version} is kept`)
    else showSaveError(editing)
    isBusy.value = false
  }
  return (
    <DiffDialog
      title={`Version ${theirs.version} was saved elsewhere`}
      text={`The val was changed elsewhere while you were typing. Nothing is lost: version ${theirs.version} stays in the history, and your text can be restored. The difference:`}
      theirs={theirs.code}
      mine={editing.code.peek()}
      path={`${theirs.author.username}/${theirs.name}.tsx`}
      label={`Changes from version ${theirs.version} to your text`}
      onClose={later}
    >
      <Button kind="quiet" onClick={later}>
        Decide later
      </Button>
      <Button kind="quiet" onClick={() => editing.takeSaved(theirs)}>
        Take version {theirs.version}
      </Button>
      <Button disabled={isBusy.value} onClick={saveMine}>
        Save mine as a new version
      </Button>
    </DiffDialog>
  )
}
