import { useSignal } from "@preact/signals"
import { useLayoutEffect, useRef } from "preact/hooks"
import { Icon } from "../../../../ui/icon.tsx"
import { Menu, MenuChoice, MenuItem } from "../../../parts/buttons/menu.tsx"
import { FileBadge, findMark, treeTypeChoices } from "./file-badge.tsx"
import type { FileMarks } from "./file-marks.ts"
import type { TreeRow } from "./tree-rows.ts"
import type { TreeState } from "./tree-state.ts"

interface Props {
  readonly row: TreeRow
  readonly tree: TreeState
  readonly marks: FileMarks
  readonly isOwn: boolean
}

/** A file or folder in the tree. */
export function TreeRowView(props: Props) {
  const { row, tree, marks, isOwn } = props
  const { file, isFolder, isDeleted, level } = row
  const element = useRef<HTMLDivElement>(null)
  const isRenaming = tree.renaming.value === row.key
  const isCurrent = file !== undefined && tree.files.current.value === file
  const isFailed = isFailedFile(props)
  const looks = [
    isCurrent ? "tree-current" : "",
    isDeleted ? "tree-deleted" : "",
    isFailed ? "tree-failed" : "",
    tree.dropFolder.value === row.path && isFolder ? "tree-drop" : "",
  ]
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree handles the keys of its rows
    <div
      ref={element}
      class={`row pick tree-row ${looks.join(" ")}`}
      role="treeitem"
      data-key={row.key}
      style={{ "--level": level - 1 }}
      aria-label={describe(props)}
      aria-level={level}
      aria-posinset={row.index}
      aria-setsize={row.count}
      aria-selected={isCurrent}
      {...(isFolder && !isDeleted ? { "aria-expanded": row.isOpen } : {})}
      tabIndex={tree.focused.value === row.key ? 0 : -1}
      title={row.path}
      draggable={isOwn && !isDeleted && !isRenaming}
      onFocus={() => {
        tree.focused.value = row.key
      }}
      onClick={(event) => {
        if (event.target instanceof Element && !event.target.closest("button, input, .menu"))
          tree.choose(row)
      }}
      onContextMenu={(event) => {
        const more = element.current?.querySelector<HTMLElement>(".tree-more")
        if (!more) return
        event.preventDefault()
        more.click()
      }}
      onDragStart={(event) => tree.startDrag(row, event)}
      onDragEnd={() => tree.endDrag()}
    >
      {isFolder ? (
        <span class={`tree-chevron ${row.isOpen ? "tree-chevron-open" : ""}`}>
          <Icon name="chevron" />
        </span>
      ) : (
        <span class="tree-chevron" />
      )}
      {isRenaming ? (
        <RenameField row={row} tree={tree} />
      ) : (
        <span class="ellipsis tree-name">{row.name}</span>
      )}
      {isOwn && !isRenaming ? <RowTools {...props} element={element} /> : null}
      <ProblemCount {...props} />
      <Change row={row} />
      {file && !isFolder && !isDeleted ? <FileBadge file={file} marks={marks} /> : null}
    </div>
  )
}

function ProblemCount(props: Props) {
  const count = countProblems(props)
  return count === 0 ? null : (
    <span class="tiny tree-count" data-text={count} title={toProblems(count)} aria-hidden="true" />
  )
}

function countProblems({ row: { file, isDeleted }, marks }: Props): number {
  return file && !isDeleted ? (marks.problems.value.get(file.path.value) ?? 0) : 0
}

function toProblems(count: number): string {
  return count === 1 ? "1 problem" : `${count} problems`
}

/** What is unsaved about a file. */
function Change({ row: { file, isDeleted, isFolder } }: Pick<Props, "row">) {
  if (!file || isDeleted) return null
  if (!file.saved.value) return <span class="tree-new" data-text="new" aria-hidden="true" />
  return file.isDirty.value && !isFolder ? <span class="dot" /> : null
}

function RowTools({ row, tree, element }: Props & { element: { current: HTMLDivElement | null } }) {
  const { file, isFolder, isDeleted, path, name } = row
  if (isDeleted)
    return (
      <button
        type="button"
        class="tree-undo"
        tabIndex={-1}
        aria-label={`Undo the deletion of ${name}`}
        title="Undo the deletion"
        onClick={() => tree.restore(row)}
      >
        <Icon name="undo" />
      </button>
    )
  const type = file?.type.value
  return (
    <Menu
      label={`Actions for ${name}`}
      buttonClass="tree-more"
      button={<Icon name="more" />}
      owner={element}
    >
      {isFolder ? (
        <>
          <MenuItem
            icon="fileNew"
            label="New file here…"
            onClick={() => tree.create("file", path)}
          />
          <MenuItem
            icon="folderNew"
            label="New folder here…"
            onClick={() => tree.create("folder", path)}
          />
        </>
      ) : null}
      <MenuItem icon="edit" label="Rename" onClick={() => tree.rename(row)} />
      <MenuItem icon="trash" label="Delete" onClick={() => tree.delete(row)} />
      {file && !isFolder ? (
        <>
          <hr />
          {treeTypeChoices.map(({ value, icon, label }) => (
            <MenuChoice
              key={value}
              icon={icon}
              label={label}
              isChosen={type === value}
              onClick={() => tree.files.setType(file, value)}
            />
          ))}
        </>
      ) : null}
    </Menu>
  )
}

/** The name of a row while it is changed. A path with slashes moves it. */
function RenameField({ row, tree }: Pick<Props, "row" | "tree">) {
  const input = useRef<HTMLInputElement>(null)
  const problem = useSignal<string | undefined>(undefined)
  useLayoutEffect(() => {
    const end = row.isFolder ? -1 : row.name.lastIndexOf(".")
    input.current?.focus()
    input.current?.setSelectionRange(0, end > 0 ? end : row.name.length)
  }, [])
  const submit = (isLast: boolean) => {
    problem.value = tree.submitName(row, input.current?.value ?? "", isLast)
  }
  return (
    <span class="fill tree-rename">
      <input
        ref={input}
        class="input tree-input"
        aria-label={`New name of ${row.name}`}
        aria-invalid={problem.value !== undefined}
        spellcheck={false}
        autocomplete="off"
        defaultValue={row.name}
        onInput={() => {
          problem.value = undefined
        }}
        onBlur={() => submit(true)}
        onKeyDown={(event) => {
          event.stopPropagation()
          if (event.key === "Enter") submit(false)
          else if (event.key === "Escape") tree.endRename(row)
        }}
      />
      {problem.value === undefined ? null : (
        <span class="tree-problem" role="alert">
          {problem.value}
        </span>
      )}
    </span>
  )
}

function isFailedFile({ row: { file, isDeleted }, marks }: Props): boolean {
  const id = file?.saved.value?.id
  return !isDeleted && id !== undefined && marks.failed.value.has(id)
}

/** The name of a row, and in words what its marks say. */
function describe(props: Props): string {
  const { file, isFolder, isDeleted, name } = props.row
  const mark = file && !isFolder ? findMark(file, props.marks)?.label : undefined
  const words = [
    name,
    ...(isFolder ? ["folder"] : []),
    ...(mark && !isDeleted ? [mark] : []),
    ...(isDeleted ? ["deleted"] : file && !file.saved.value ? ["new"] : []),
    ...(file?.saved.value && file.isDirty.value && !isDeleted ? ["unsaved"] : []),
    ...(isFailedFile(props) ? ["last run failed"] : []),
    ...(countProblems(props) > 0 ? [toProblems(countProblems(props))] : []),
  ]
  return words.join(", ")
}
