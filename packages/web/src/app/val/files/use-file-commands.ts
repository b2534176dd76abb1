import { useEffect } from "preact/hooks"
import {
  openFilePalette,
  type PaletteCommand,
  pageFiles,
} from "../../frame/command-palette-state.ts"
import { useControlKeys } from "../code/use-control-keys.ts"
import { changeLayout, layout } from "../panes/layout.ts"
import { narrowView } from "../panes/narrow.ts"
import type { ValTabProps } from "../val-tab-props.ts"
import { focusWanted, newEntry } from "./files-view.ts"
import type { ValFiles } from "./val-files.ts"

/** Control-P opens any file, Control-B shows and hides the tree; the palette has the files too. */
export function useFileCommands({ files }: ValTabProps["editing"]): void {
  useControlKeys({ p: openFilePalette, b: toggleTree })
  const listed = listFiles(files)
  useEffect(() => {
    pageFiles.value = listed.map(({ path, open }) => ({ label: path, icon: "file", run: open }))
  }, [listed.map(({ path }) => path).join("\n"), files])
  useEffect(
    () => () => {
      pageFiles.value = []
      newEntry.value = undefined
    },
    [],
  )
}

/** The commands about files. */
export function listFileCommands(
  { files }: ValTabProps["editing"],
  isOwn: boolean,
): readonly PaletteCommand[] {
  const create = (kind: "file" | "folder") => () => {
    newEntry.value = { kind, parent: "" }
  }
  const close = () => {
    const current = files.current.peek()
    if (current) files.close(current)
  }
  return [
    { label: "Open a file of this val…", icon: "file", keys: "Ctrl P", run: openLater },
    { label: "Show or hide the files", icon: "panelLeft", keys: "Ctrl B", run: toggleTree },
    { label: "Close this file", icon: "close", run: close },
    ...(isOwn
      ? ([
          { label: "New file…", icon: "fileNew", run: create("file") },
          { label: "New folder…", icon: "folderNew", run: create("folder") },
        ] as const)
      : []),
  ]
}

/** The palette that offers the command is closed first. */
function openLater(): void {
  queueMicrotask(openFilePalette)
}

function toggleTree(): void {
  changeLayout({ isTreeOpen: !layout.peek().isTreeOpen })
}

/** Lists files of other tabs first, then the rest, and last the file that is shown. */
function listFiles(files: ValFiles) {
  const tabs = files.tabs.value
  const current = files.current.value
  const rank = (file: (typeof tabs)[number]) => (file === current ? 2 : tabs.includes(file) ? 0 : 1)
  return files.present.value
    .filter((file) => file.type.value !== "directory")
    .toSorted((one, other) => rank(one) - rank(other))
    .map((file) => ({
      path: file.path.value,
      open() {
        files.open(file)
        narrowView.value = "code"
        focusWanted.value = { path: file.path.peek() }
      },
    }))
}
