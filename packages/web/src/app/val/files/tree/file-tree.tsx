import { useLayoutEffect, useRef } from "preact/hooks"
import { hasFiles } from "../../../archive/dropped.ts"
import type { FileMarks } from "./file-marks.ts"
import { TreeRowView } from "./tree-row.tsx"
import { type TreeRow, toTreeRows } from "./tree-rows.ts"
import { type TreeState, toDropFolder } from "./tree-state.ts"

interface Props {
  readonly tree: TreeState
  readonly marks: FileMarks
  readonly isOwn: boolean
  /** Moves the focus into the editor. */
  readonly onLeave: () => void
  /** Takes files and folders that were dropped from outside, for a folder of the val. */
  readonly onDropFiles: (data: DataTransfer, folder: string) => void
}

/** The files and folders of a val. It is one tab stop; the arrow keys move inside. */
export function FileTree(props: Props) {
  const { tree, marks, isOwn } = props
  const root = useRef<HTMLDivElement>(null)
  const rows = toTreeRows(tree.files.all.value, tree.closed.paths.value)
  const focused = rows.find(({ key }) => key === tree.focused.value)
  const current = tree.files.current.value
  if (!focused) tree.focused.value = (rows.find(({ file }) => file === current) ?? rows[0])?.key
  useFocusAfterRename(tree, root.current)
  return (
    <div
      ref={root}
      class={`fill file-tree ${tree.dropFolder.value === "" ? "tree-drop" : ""}`}
      role="tree"
      aria-label="Files"
      tabIndex={-1}
      onKeyDown={(event) => {
        if (event.target instanceof Element && event.target.closest("[role=menu], .tree-more"))
          return
        const focus = (row: TreeRow | undefined) => focusRow(root.current, row)
        if (onTreeKey(event, { ...props, rows, row: focused, focus })) event.preventDefault()
      }}
      {...(isOwn ? toDropListeners(props, rows) : {})}
    >
      {rows.map((row) => (
        <TreeRowView key={row.key} row={row} tree={tree} marks={marks} isOwn={isOwn} />
      ))}
    </div>
  )
}

interface KeyContext extends Props {
  readonly rows: readonly TreeRow[]
  /** The row with the focus. */
  readonly row: TreeRow | undefined
  focus(row: TreeRow | undefined): void
}

/** What a key does. Returns whether it does anything. */
function onTreeKey(event: KeyboardEvent, context: KeyContext): boolean {
  const { rows, row, focus } = context
  if (!row || event.ctrlKey || event.metaKey || event.altKey) return false
  const at = rows.indexOf(row)
  const { key } = event
  if (key === "ArrowDown") focus(rows[at + 1])
  else if (key === "ArrowUp") focus(rows[at - 1])
  else if (key === "Home") focus(rows[0])
  else if (key === "End") focus(rows.at(-1))
  else if (key === "Escape") context.onLeave()
  else if (key === "Enter" || key === " ") context.tree.choose(row)
  else if (key === "ArrowRight" || key === "ArrowLeft") unfold(context, row, key === "ArrowRight")
  else if (context.isOwn && change(event, context, row)) return true
  else if (/^[\w.]$/.test(key)) focus(findByLetter([...rows.slice(at + 1), ...rows], key))
  else return false
  return true
}

/** Into a folder and out of it, as in other trees. */
function unfold({ rows, tree, focus }: KeyContext, row: TreeRow, isInto: boolean): void {
  if (row.isFolder && !row.isDeleted && row.isOpen !== isInto) tree.choose(row)
  else if (isInto && row.isFolder) focus(rows[rows.indexOf(row) + 1])
  else if (!isInto)
    focus(rows.slice(0, rows.indexOf(row)).findLast(({ level }) => level < row.level))
}

function change(event: KeyboardEvent, { rows, tree, focus }: KeyContext, row: TreeRow): boolean {
  const { key, shiftKey, currentTarget } = event
  if (key === "F2") tree.rename(row)
  else if (key === "Delete") {
    // A file that was never saved has no row any more.
    const at = rows.indexOf(row)
    if (!row.file?.saved.peek()) focus(rows[at + 1] ?? rows[at - 1])
    tree.delete(row)
  } else if (
    (key === "ContextMenu" || (key === "F10" && shiftKey)) &&
    currentTarget instanceof Element
  )
    currentTarget.querySelector<HTMLElement>(`[data-key="${row.key}"] .tree-more`)?.click()
  else return false
  return true
}

function findByLetter(rows: readonly TreeRow[], letter: string): TreeRow | undefined {
  return rows.find(({ name }) => name.toLowerCase().startsWith(letter.toLowerCase()))
}

function focusRow(root: HTMLElement | null, row: TreeRow | undefined): void {
  if (row) root?.querySelector<HTMLElement>(`[data-key="${row.key}"]`)?.focus()
}

/** The field with the name had the focus: its row takes it, unless the user has gone elsewhere. */
function useFocusAfterRename({ renaming }: TreeState, root: HTMLElement | null): void {
  const last = useRef<string | undefined>(undefined)
  const { value } = renaming
  useLayoutEffect(() => {
    const key = last.current
    last.current = value
    if (value === undefined && key !== undefined && document.activeElement === document.body)
      root?.querySelector<HTMLElement>(`[data-key="${key}"]`)?.focus()
  }, [value])
}

function toDropListeners({ tree, onDropFiles }: Props, rows: readonly TreeRow[]) {
  const findRow = ({ target }: Event) => {
    const element = target instanceof Element ? target.closest<HTMLElement>("[data-key]") : null
    return rows.find(({ key }) => key === element?.dataset.key)
  }
  return {
    onDragOver(event: DragEvent) {
      const isOutside = hasFiles(event.dataTransfer)
      if (isOutside) tree.dropFolder.value = toDropFolder(findRow(event))
      if (isOutside || tree.dragOver(findRow(event))) event.preventDefault()
    },
    onDragLeave(event: DragEvent & { currentTarget: HTMLElement }) {
      const to = event.relatedTarget
      if (!(to instanceof Node && event.currentTarget.contains(to)))
        tree.dropFolder.value = undefined
    },
    onDrop(event: DragEvent) {
      event.preventDefault()
      if (event.dataTransfer && hasFiles(event.dataTransfer))
        onDropFiles(event.dataTransfer, toDropFolder(findRow(event)))
      tree.drop(findRow(event))
    },
  }
}
