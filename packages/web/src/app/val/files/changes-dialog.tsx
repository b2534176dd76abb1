import { isInside } from "@hamlet/contract/file-paths"
import { limits } from "@hamlet/contract/limits"
import { useSignal } from "@preact/signals"
import { useEffect, useMemo } from "preact/hooks"
import { bindText, setTo } from "../../../ui/bind.ts"
import { Dialog } from "../../../ui/dialog.tsx"
import { Button } from "../../parts/buttons/button.tsx"
import { Field } from "../../parts/forms/field.tsx"
import type { ComparedFile, FileTexts } from "../comparison/compared-file.ts"
import { FileDiffs } from "../comparison/file-diffs.tsx"
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
      class="pick nowrap changes-button"
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
  const { discard } = useMemo(() => createFileActions(editing), [editing])
  const files = listChanged(editing.files.changed.value)
  const close = setTo(isReviewing, false)
  const save = async () => {
    close()
    await actions.save(note.peek().trim())
  }
  const title = "Unsaved changes"
  return (
    <Dialog title={title} kind="wide" onClose={close}>
      <div class="changes">
        {files.length === 0 ? (
          <p class="quiet">Nothing has changed.</p>
        ) : (
          <FileDiffs
            files={files.map(toCompared)}
            layout="inline"
            label={title}
            loadKey="unsaved"
            load={loadTexts}
            actions={({ file }) => <Discard file={file} action={() => discard(file)} />}
          />
        )}
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

/** The new type of a file, if it has another one, and what drops its changes. */
function Discard({ file, action }: { file: EditedFile; action: () => Promise<void> }) {
  const saved = file.saved.value
  const isRetyped = saved && !file.isDeleted.value && saved.type !== file.type.value
  return (
    <>
      {isRetyped ? <span class="quiet">now {file.type.value}</span> : null}
      <Button
        kind="quiet small"
        label={`Discard the changes of ${file.path.value}`}
        title="Set these changes aside"
        action={action}
      >
        Discard
      </Button>
    </>
  )
}

function toCompared(file: EditedFile): ComparedFile & { readonly file: EditedFile } {
  const end = file.type.value === "directory" ? "/" : ""
  const path = file.path.value + end
  const before = file.saved.value && file.saved.value.path + end
  if (before === undefined) return { file, path, newPath: null, kind: "added" }
  if (file.isDeleted.value) return { file, path, newPath: null, kind: "deleted" }
  return before === path
    ? { file, path, newPath: null, kind: "changed" }
    : { file, path: before, newPath: path, kind: "moved" }
}

async function loadTexts({ file }: { readonly file: EditedFile }): Promise<FileTexts> {
  if (file.type.peek() === "directory") return { before: "", after: "" }
  const before = await file.findSavedText()
  return { before, after: file.isDeleted.peek() ? "" : (file.text.peek() ?? "") }
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
