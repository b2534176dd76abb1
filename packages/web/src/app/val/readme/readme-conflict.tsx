import { LazyDiffView } from "../../../editor/lazy.tsx"
import { Dialog } from "../../parts/dialog.tsx"

/**
 * The readme was saved elsewhere while it was being written here: shows how the two differ before
 * one of them goes.
 */
export function ReadmeConflict(props: {
  readonly theirs: string
  readonly mine: string
  readonly path: string
  readonly onSaveMine: (seen: string) => void
  readonly onClose: () => void
}) {
  const { theirs, mine, path, onSaveMine, onClose } = props
  return (
    <Dialog title="The readme was changed meanwhile" kind="wide" onClose={onClose}>
      <p>
        It was saved elsewhere while you were writing. A readme has no versions, so look before you
        save. Yours differs like this:
      </p>
      <div class="conflict-diff">
        <LazyDiffView
          before={theirs}
          after={mine}
          layout="inline"
          path={path}
          label="Changes from the saved readme to yours"
        />
      </div>
      <div class="dialog-foot">
        <button type="button" class="button button-quiet" onClick={onClose}>
          Go on writing
        </button>
        <button type="button" class="button" onClick={() => onSaveMine(theirs)}>
          Save mine over it
        </button>
      </div>
    </Dialog>
  )
}
