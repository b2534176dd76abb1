import { toFileName } from "@hamlet/contract/file-paths"
import { useLayoutEffect, useRef } from "preact/hooks"
import { Icon } from "../../../ui/icon.tsx"
import { useMoreHint } from "../../../ui/use-more-hint.ts"
import type { ValTabProps } from "../val-tab-props.ts"
import type { EditedFile } from "./edited-file.ts"
import type { ValFiles } from "./val-files.ts"

/** Whether the open files have tabs: a val with one file has none. */
export function hasTabs(files: ValFiles): boolean {
  const count = files.present.value.filter((file) => file.type.value !== "directory").length
  return count > 1 || files.tabs.value.length > 1
}

/** The ids of the tab of a file and of what it shows. */
export function toTabIds({ key }: EditedFile): { readonly tab: string; readonly panel: string } {
  return { tab: `tab-${key}`, panel: `panel-${key}` }
}

/** The open files over the editor. They are one tab stop; the arrow keys move inside. */
export function FileTabs({ editing }: Pick<ValTabProps, "editing">) {
  const { files } = editing
  return hasTabs(files) ? <TabList files={files} /> : null
}

function TabList({ files }: { files: ValFiles }) {
  const list = useRef<HTMLDivElement>(null)
  useMoreHint(list)
  const onKeyDown = (event: KeyboardEvent) => {
    const file = files.current.peek()
    const tabs = files.tabs.peek()
    if (!file) return
    const at = tabs.indexOf(file)
    const target = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[
      event.key
    ]
    const next = target === undefined ? undefined : tabs.at(target % tabs.length)
    if (event.key === "Delete") files.close(file)
    else if (next) files.open(next)
    else return
    event.preventDefault()
    const shown = files.current.peek()
    // The tab of a file that is opened now is there after the next render.
    requestAnimationFrame(() => {
      if (shown) document.getElementById(toTabIds(shown).tab)?.focus()
    })
  }
  return (
    <div
      ref={list}
      class="tabs file-tabs"
      role="tablist"
      aria-label="Open files"
      tabIndex={-1}
      onKeyDown={onKeyDown}
    >
      {files.tabs.value.map((file) => (
        <FileTab key={file.key} files={files} file={file} />
      ))}
    </div>
  )
}

function FileTab({ files, file }: { files: ValFiles; file: EditedFile }) {
  const path = file.path.value
  const isCurrent = files.current.value === file
  const ids = toTabIds(file)
  const tab = useRef<HTMLButtonElement>(null)
  // In the tab itself: those around it are rendered before it.
  useLayoutEffect(() => {
    if (isCurrent) tab.current?.scrollIntoView({ block: "nearest", inline: "nearest" })
  }, [isCurrent])
  return (
    <button
      ref={tab}
      type="button"
      role="tab"
      id={ids.tab}
      class={`small nowrap file-tab ${isCurrent ? "file-tab-current" : ""}`}
      aria-selected={isCurrent}
      aria-controls={ids.panel}
      aria-keyshortcuts="Delete"
      tabIndex={isCurrent ? 0 : -1}
      title={path}
      onClick={({ target }) => {
        // The cross is for the pointer: what is inside of a tab is no button. Delete closes it too.
        const isClosing = target instanceof Element && target.closest(".file-tab-close") !== null
        if (isClosing) files.close(file)
        else files.open(file)
      }}
      onMouseDown={(event) => {
        // The middle button would scroll.
        if (event.button === 1) event.preventDefault()
      }}
      onAuxClick={(event) => {
        if (event.button === 1) files.close(file)
      }}
    >
      {toLabel(path, files.tabs.value)}
      {file.isDirty.value ? (
        <>
          <span class="dot" />
          <span class="visually-hidden"> (unsaved)</span>
        </>
      ) : null}
      <span class="file-tab-close" title="Close" aria-hidden="true">
        <Icon name="close" />
      </span>
    </button>
  )
}

/** The name of a file; with its folder where another open file has the same name. */
function toLabel(path: string, tabs: readonly EditedFile[]): string {
  const name = toFileName(path)
  const isShared = tabs.filter((file) => toFileName(file.path.value) === name).length > 1
  return isShared ? path : name
}
