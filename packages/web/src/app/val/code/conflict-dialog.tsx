import { useSignal } from "@preact/signals"
import { LazyDiffView } from "../../../editor/lazy.tsx"
import { setTo } from "../../../ui/bind.ts"
import { Dialog } from "../../../ui/dialog.tsx"
import { showDone } from "../../frame/toast-list.ts"
import { Button } from "../../parts/buttons/button.tsx"
import type { FileConflict, Resolution } from "../files/conflicts.ts"
import type { ValTabProps } from "../val-tab-props.ts"
import { showSaveError } from "./code-actions.ts"

/** Files were saved elsewhere: shows the differences, and overwrites nothing by itself. */
export function ConflictDialog({ editing }: Pick<ValTabProps, "editing">) {
  const isBusy = useSignal(false)
  const saving = editing.saving.value
  if (saving.kind !== "conflict") return null
  const [conflict, ...others] = saving.files
  if (!conflict) return null
  const { version } = saving.theirs.branch
  const { file, theirs, merged } = conflict
  const later = setTo(editing.saving, { kind: "idle" })
  const resolve = async (resolution: Resolution) => {
    isBusy.value = true
    if (await editing.resolve(conflict, resolution)) {
      const saved = editing.branch.peek().version
      if (saved !== version) showDone(`Saved as version ${saved}; version ${version} is kept`)
    } else showSaveError(editing)
    isBusy.value = false
  }
  const path = file.path.peek()
  const isDeleted = file.isDeleted.peek()
  return (
    <Dialog
      key={file.key}
      title={`Version ${version} was saved elsewhere`}
      kind="wide"
      onClose={later}
    >
      <p>
        {describe(conflict)} Nothing is lost: version {version} stays in the history, and your text
        can be restored.{" "}
        {others.length === 0 ? "" : `${others.length} more of your files were changed there. `}The
        difference:
      </p>
      <div class="boxed conflict-diff">
        <LazyDiffView
          before={theirs?.text ?? ""}
          after={isDeleted ? "" : (file.text.peek() ?? "")}
          layout="inline"
          path={path}
          label={`Changes of ${path} from version ${version} to your text`}
        />
      </div>
      <div class="row wrap dialog-foot">
        {merged === undefined ? null : (
          <Button disabled={isBusy.value} onClick={() => resolve("merged")}>
            Take both changes
          </Button>
        )}
        <Button kind="quiet" onClick={later}>
          Decide later
        </Button>
        <Button kind="quiet" disabled={isBusy.value} onClick={() => resolve("theirs")}>
          {theirs ? `Take version ${version}` : "Delete it here too"}
        </Button>
        <Button
          {...(merged === undefined ? {} : { kind: "quiet" as const })}
          disabled={isBusy.value}
          onClick={() => resolve("mine")}
        >
          Save mine as a new version
        </Button>
      </div>
    </Dialog>
  )
}

function describe({ file, theirs, merged }: FileConflict): string {
  const path = file.path.peek()
  if (!theirs) return `${path} was deleted elsewhere while you were typing.`
  if (file.isDeleted.peek()) return `You have deleted ${path}, which was changed elsewhere.`
  const both =
    merged === undefined ? "" : " The changes are about different lines, and fit together."
  return `${path} was changed elsewhere while you were typing.${both}`
}
