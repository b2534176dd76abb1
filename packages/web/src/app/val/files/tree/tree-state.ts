import { isInside, joinPath, toFileName, toParentPath } from "@hamlet/contract/file-paths"
import { type Signal, signal } from "@preact/signals"
import type { ValEditing } from "../../code/val-editing.ts"
import { narrowView } from "../../panes/narrow.ts"
import { createFileActions, type FileActions } from "../file-actions.ts"
import { ClosedFolders, newEntry } from "../files-view.ts"
import type { ValFiles } from "../val-files.ts"
import type { TreeRow } from "./tree-rows.ts"

/** The tree of a val while it is used: the row with the focus, the name that is typed, the drag. */
export class TreeState {
  readonly files: ValFiles
  readonly actions: FileActions
  readonly closed: ClosedFolders
  /** The key of the row that Tab leads to. */
  readonly focused: Signal<string | undefined> = signal(undefined)
  /** The key of the row whose name is typed. */
  readonly renaming: Signal<string | undefined> = signal(undefined)
  /** The folder that would take what is dragged; empty for the root. */
  readonly dropFolder: Signal<string | undefined> = signal(undefined)
  #dragged: string | undefined

  constructor(editing: ValEditing) {
    this.files = editing.files
    this.actions = createFileActions(editing)
    this.closed = new ClosedFolders(editing.val.peek().id)
  }

  /** Opens a file, or opens or closes a folder. */
  choose(row: TreeRow): void {
    if (row.isDeleted) return
    if (row.isFolder) this.closed.set(row.path, row.isOpen)
    else if (row.file) {
      this.files.open(row.file)
      narrowView.value = "code"
    }
  }

  create(kind: "file" | "folder", parent: string): void {
    this.closed.set(parent, false)
    newEntry.value = { kind, parent }
  }

  delete(row: TreeRow): void {
    if (!row.isDeleted) this.actions.delete(row.path)
  }

  restore({ path }: TreeRow): void {
    this.actions.restore(
      this.files.all
        .peek()
        .filter(
          (file) =>
            file.isDeleted.peek() &&
            (file.path.peek() === path || isInside(file.path.peek(), path)),
        ),
    )
  }

  rename(row: TreeRow): void {
    if (!row.isDeleted) this.renaming.value = row.key
  }

  endRename(row: TreeRow): void {
    if (this.renaming.peek() === row.key) this.renaming.value = undefined
  }

  /** Moves a row to a name that was typed. Returns why it cannot; if it is the last try, it stays. */
  submitName(row: TreeRow, text: string, isLast: boolean): string | undefined {
    if (this.renaming.peek() !== row.key) return undefined
    const name = text.trim()
    const to = joinPath(toParentPath(row.path), name)
    const problem = name === "" ? undefined : this.actions.findProblem(to, row.path)
    if (problem && !isLast) return problem
    if (name !== "" && !problem) this.#move(row.path, to)
    this.endRename(row)
    return undefined
  }

  startDrag(row: TreeRow, { dataTransfer }: DragEvent): void {
    this.#dragged = row.path
    // Firefox drags nothing without data.
    dataTransfer?.setData("text/plain", row.path)
    if (dataTransfer) dataTransfer.effectAllowed = "move"
  }

  /** Marks the folder that would take what is dragged. Returns whether one would. */
  dragOver(row: TreeRow | undefined): boolean {
    const folder = toDropFolder(row)
    const from = this.#dragged
    const canTake =
      from !== undefined &&
      from !== folder &&
      !isInside(folder, from) &&
      toParentPath(from) !== folder
    this.dropFolder.value = canTake ? folder : undefined
    return canTake
  }

  drop(row: TreeRow | undefined): void {
    const from = this.#dragged
    if (from !== undefined && this.dragOver(row))
      this.#move(from, joinPath(toDropFolder(row), toFileName(from)))
    this.endDrag()
  }

  endDrag(): void {
    this.#dragged = undefined
    this.dropFolder.value = undefined
  }

  /** Closed folders stay closed where they are moved to. */
  #move(from: string, to: string): void {
    if (!this.actions.move(from, to)) return
    for (const path of this.closed.paths.peek())
      if (path === from || isInside(path, from)) {
        this.closed.set(path, false)
        this.closed.set(to + path.slice(from.length), true)
      }
    this.closed.set(toParentPath(to), false)
  }
}

/** The folder that takes what is dropped on a row: itself, or the one that the file is in. */
export function toDropFolder(row: TreeRow | undefined): string {
  if (!row || row.isDeleted) return ""
  return row.isFolder ? row.path : toParentPath(row.path)
}
