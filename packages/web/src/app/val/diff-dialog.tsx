import type { ComponentChildren } from "preact"
import { LazyDiffView } from "../../editor/lazy.tsx"
import { Dialog } from "../../ui/dialog.tsx"

/** Shows how the user's text differs from one that was saved elsewhere, with buttons to decide. */
export function DiffDialog(props: {
  readonly title: string
  readonly text: string
  readonly theirs: string
  readonly mine: string
  readonly path: string
  readonly label: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}) {
  const { title, text, theirs, mine, path, label, onClose, children } = props
  return (
    <Dialog title={title} kind="wide" onClose={onClose}>
      <p>{text}</p>
      <div class="boxed conflict-diff">
        <LazyDiffView before={theirs} after={mine} layout="inline" path={path} label={label} />
      </div>
      <div class="dialog-foot">{children}</div>
    </Dialog>
  )
}
