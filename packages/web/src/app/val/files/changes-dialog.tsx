import { isInside } from "@hamlet/contract/file-paths"
import { limits } from "@hamlet/contract/limits"
import { useSignal } from "@preact/signals"
import { useEffect, useMemo } from "preact/hooks"
import { LazyDiffView } from "../../../editor/lazy.tsx"
import { bindText, setTo } from "../../../ui/bind.ts"
import { Dialog } from "../../../ui/dialog.tsx"
import { Icon } from "../../../ui/icon.tsx"
import { Button } from "../../parts/buttons/button.tsx"
import { Field } from "../../parts/forms/field.tsx"
import type { ValTabProps } from "../val-tab-props.ts"
import type { EditedFile } from "./edited-file.ts"
import { createFileActions } from "./file-actions.ts"
import { isReviewing } from "./files-view.ts"

type Props = Pick<ValTabProps, "editing" | "actions">

/** Beside Save: how many files have changed. One is as quiet as in a val with one file. */
export function ChangesButton({ editing }: Pick<Props, "editing">) {
  const { length } = listChanged(editing.files.changed.value)
  if (length < 2) return null
  return (
    <button
      type="button"
      class="bare changes-button"
      aria-haspopup="dialog"
      title="See what has changed"
      onClick={setTo(isReviewing, true)}
    >
      {length} <span class="changes-what">files</span> <span class="changes-word">changed</span>
    </button>
  )
}

/** What the next version changes, file by file, with a note for it. */
export function ChangesDialog(props: Props) {
  const isOpen = isReviewing.value
  // Another page starts without it.
  useEffect(() => setTo(isReviewing, false), [])
  return isOpen ? <Changes {...props} /> : null
}

function Changes({ editing, actions }: Props) {
  const note = useSignal("")
  const files = listChanged(editing.files.changed.value)
  const close = setTo(isReviewing, false)
  const save = async () => {
    close()
    await actions.save(note.peek().trim())
  }
  const title =
    files.length === 0
      ? "No changes"
      : `${files.length} ${files.length === 1 ? "file" : "files"} changed`
  return (
    <Dialog title={title} kind="wide" onClose={close}>
      <div class="column changes">
        {files.map((file, at) => (
          <Change key={file.key} editing={editing} file={file} isOpen={at === 0} />
        ))}
      </div>
      <form
        class="row changes-foot"
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
      >
        <Field label="Note for this version">
          <input
            class="input"
            placeholder="Optional"
            maxLength={limits.noteCharsMax}
            {...bindText(note)}
          />
        </Field>
        <button type="submit" class="button" disabled={files.length === 0}>
          Save
        </button>
      </form>
    </Dialog>
  )
}

function Change(props: {
  readonly editing: Props["editing"]
  readonly file: EditedFile
  readonly isOpen: boolean
}) {
  const { editing, file } = props
  const actions = useMemo(() => createFileActions(editing), [editing])
  const isOpen = useSignal(props.isOpen)
  const path = file.path.value
  const isFolder = file.type.value === "directory"
  return (
    <section class="boxed change" aria-label={path}>
      <div class="row change-head">
        <button
          type="button"
          class="bare row fill change-toggle"
          aria-expanded={isOpen.value}
          disabled={isFolder}
          onClick={setTo(isOpen, !isOpen.value)}
        >
          <Icon name="chevron" />
          <span class="ellipsis change-path">{path}</span>
          <span class={`change-kind change-${toKind(file)}`}>{describe(file)}</span>
        </button>
        <Button
          kind="quiet small"
          label={`Discard the changes of ${path}`}
          title="Set these changes aside"
          action={() => actions.discard(file)}
        >
          Discard
        </Button>
      </div>
      {isOpen.value && !isFolder ? <Difference file={file} /> : null}
    </section>
  )
}

function Difference({ file }: { file: EditedFile }) {
  useEffect(() => void file.load(), [file])
  const before = file.saved.value ? file.savedText.value : ""
  const after = file.isDeleted.value ? "" : file.text.value
  if (before === undefined || after === undefined) return null
  if (before === after) return <p class="quiet change-same">The text is the same.</p>
  const path = file.path.value
  return (
    <div class="change-diff">
      <LazyDiffView
        before={before}
        after={after}
        layout="inline"
        path={path}
        label={`Changes of ${path}`}
      />
    </div>
  )
}

type Kind = "new" | "deleted" | "moved" | "changed"

function toKind(file: EditedFile): Kind {
  const saved = file.saved.value
  if (!saved) return "new"
  if (file.isDeleted.value) return "deleted"
  return saved.path === file.path.value ? "changed" : "moved"
}

/** What has become of a file, in words. */
function describe(file: EditedFile): string {
  const saved = file.saved.value
  const kind = toKind(file)
  const what = kind === "moved" ? `moved from ${saved?.path}` : kind
  const isRetyped = saved && kind !== "deleted" && saved.type !== file.type.value
  return isRetyped ? `${what}, now ${file.type.value}` : what
}

/** A folder is in the list only if none of the changed files is in it. */
function listChanged(changed: readonly EditedFile[]): readonly EditedFile[] {
  const isFolder = (file: EditedFile) => file.type.value === "directory"
  return changed.filter(
    (file) =>
      !isFolder(file) ||
      !changed.some((other) => !isFolder(other) && isInside(other.path.value, file.path.value)),
  )
}
