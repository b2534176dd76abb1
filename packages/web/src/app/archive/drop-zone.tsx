import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { setTo } from "../../ui/bind.ts"
import { Icon } from "../../ui/icon.tsx"
import { FileButton } from "../parts/buttons/file-button.tsx"
import { useAction } from "../parts/buttons/use-action.ts"
import { type Dropped, hasFiles, readDropped, takeChosen, takeDropped } from "./dropped.ts"
import type { SelectedFiles } from "./select-files.ts"

/** Creates a val from a folder or an archive, which may be dropped anywhere on the page. */
export function DropZone() {
  const { isBusy, run } = useAction()
  const opened = useSignal<Awaited<ReturnType<typeof openDropped>> | undefined>(undefined)
  const open = (dropped: Dropped) =>
    void run(async () => {
      opened.value = await openDropped(dropped)
    })
  const isOver = useDrop(open)
  const Dialog = opened.value?.ImportDialog
  const pick = (files: readonly File[]) => open(takeChosen(files))
  const shared = { kind: "quiet", disabled: isBusy, onPick: pick }
  return (
    <div class={`row wrap drop-zone ${isOver ? "drop-zone-over" : ""}`}>
      <Icon name="upload" />
      <p role="status">{isBusy ? "Reading…" : "Drop a folder or a .zip here"}</p>
      <FileButton {...shared} label="Folder to import" takes={{ webkitdirectory: true }}>
        Choose a folder
      </FileButton>
      <FileButton {...shared} label="Archive to import" takes={{ accept: ".zip,application/zip" }}>
        Choose a .zip
      </FileButton>
      {Dialog && opened.value ? (
        <Dialog {...opened.value} onClose={setTo(opened, undefined)} />
      ) : null}
    </div>
  )
}

async function openDropped(dropped: Dropped): Promise<{
  readonly name: string
  readonly selected: SelectedFiles
  readonly ImportDialog: typeof import("./import-dialog.tsx").ImportDialog
}> {
  const selected = await readDropped(dropped)
  const { ImportDialog } = await import("./import-dialog.tsx")
  return { selected, ImportDialog, name: dropped.name ?? "" }
}

/** Takes what is dropped on the page; whether something is above it. */
function useDrop(onDrop: (dropped: Dropped) => void): boolean {
  const isOver = useSignal(false)
  const latest = useRef(onDrop)
  latest.current = onDrop
  useEffect(() => {
    const over = (event: DragEvent) => {
      if (!hasFiles(event.dataTransfer)) return
      event.preventDefault()
      isOver.value = true
    }
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) isOver.value = false
    }
    const drop = (event: DragEvent) => {
      isOver.value = false
      if (!event.dataTransfer || !hasFiles(event.dataTransfer)) return
      event.preventDefault()
      latest.current(takeDropped(event.dataTransfer))
    }
    const listeners = [
      ["dragover", over],
      ["dragleave", leave],
      ["drop", drop],
    ] as const
    for (const [name, listener] of listeners) addEventListener(name, listener)
    return () => {
      for (const [name, listener] of listeners) removeEventListener(name, listener)
    }
  }, [])
  return isOver.value
}
