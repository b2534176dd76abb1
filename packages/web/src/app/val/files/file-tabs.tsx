import { toFileName } from "@hamlet/contract/file-paths"
import { useRef } from "preact/hooks"
import { Icon } from "../../../ui/icon.tsx"
import { useMoreHint } from "../../../ui/use-more-hint.ts"
import type { ValTabProps } from "../val-tab-props.ts"
import type { EditedFile } from "./edited-file.ts"

/** The open files over the editor. A val with one file has no tabs. */
export function FileTabs({ editing }: Pick<ValTabProps, "editing">) {
  const { files } = editing
  const list = useRef<HTMLDivElement>(null)
  useMoreHint(list)
  const tabs = files.tabs.value
  const hasOthers = files.present.value.filter((file) => file.type.value !== "directory").length > 1
  if (!hasOthers && tabs.length < 2) return null
  return (
    <div ref={list} class="tabs file-tabs" role="tablist" aria-label="Open files">
      {tabs.map((file) => (
        <FileTab key={file.key} editing={editing} file={file} />
      ))}
    </div>
  )
}

function FileTab({ editing, file }: Pick<ValTabProps, "editing"> & { file: EditedFile }) {
  const { files } = editing
  const path = file.path.value
  const isCurrent = files.current.value === file
  const isDirty = file.isDirty.value
  const move = (event: KeyboardEvent) => {
    const tabs = files.tabs.peek()
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (event.key === "Delete") files.close(file)
    else if (step === undefined) return
    else {
      const next = tabs[(tabs.indexOf(file) + step + tabs.length) % tabs.length]
      if (next) files.open(next)
    }
    event.preventDefault()
  }
  return (
    <span class={`row file-tab ${isCurrent ? "file-tab-current" : ""}`} role="presentation">
      <button
        type="button"
        role="tab"
        class="bare file-tab-name"
        aria-selected={isCurrent}
        tabIndex={isCurrent ? 0 : -1}
        title={path}
        onClick={() => files.open(file)}
        onAuxClick={(event) => {
          if (event.button === 1) files.close(file)
        }}
        onKeyDown={move}
      >
        {toFileName(path)}
        {isDirty ? (
          <>
            <span class="tab-mark" aria-hidden="true" />
            <span class="visually-hidden"> (unsaved)</span>
          </>
        ) : null}
      </button>
      <button
        type="button"
        class="bare file-tab-close"
        // Not a tab, and the list may have nothing else: the key Delete closes a tab.
        aria-hidden="true"
        title={`Close ${path}`}
        tabIndex={-1}
        onClick={() => files.close(file)}
      >
        <Icon name="close" />
      </button>
    </span>
  )
}
