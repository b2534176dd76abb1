import { readmePath } from "@hamlet/contract/entry-file"
import { toParentPath } from "@hamlet/contract/file-paths"
import { useMemo } from "preact/hooks"
import { Icon, IconButton, type IconName } from "../../../../ui/icon.tsx"
import { reportFailure } from "../../../parts/buttons/use-action.ts"
import { changeLayout, layout } from "../../panes/layout.ts"
import { narrowView } from "../../panes/narrow.ts"
import { toDataHref, toHref } from "../../to-href.ts"
import type { ValTabProps } from "../../val-tab-props.ts"
import { newEntry } from "../files-view.ts"
import { addDropped } from "./add-dropped.ts"
import { useFileMarks } from "./file-marks.ts"
import { FileTree } from "./file-tree.tsx"
import { hasTree } from "./tree-rows.ts"
import { TreeState } from "./tree-state.ts"

type Props = Pick<ValTabProps, "editing" | "recent" | "actions" | "isOwn" | "problems">

/** The files of a val, left of the code, and below them what else belongs to it. */
export function FileRail(props: Props) {
  const { editing, actions, isOwn } = props
  const tree = useMemo(() => new TreeState(editing), [editing])
  const marks = useFileMarks(props)
  const create = (kind: "file" | "folder") => tree.create(kind, findParent(editing))
  return (
    <section class="column file-rail" aria-label="Files">
      <div class="row rail-head">
        <span class="tiny rail-title">Files</span>
        {isOwn ? (
          <>
            <IconButton icon="fileNew" label="New file" onClick={() => create("file")} />
            <IconButton icon="folderNew" label="New folder" onClick={() => create("folder")} />
          </>
        ) : null}
      </div>
      <FileTree
        tree={tree}
        marks={marks}
        isOwn={isOwn}
        onLeave={() => actions.editor.current?.focus()}
        onDropFiles={(data, folder) =>
          void reportFailure(() => addDropped(tree.actions, data, folder))
        }
      />
      <RailLinks {...props} />
    </section>
  )
}

/** Below the tree: the readme, the secrets and the data of the val. */
function RailLinks({ editing, isOwn }: Props) {
  const { files } = editing
  const readme = files.all.value.find(
    (file) => file.path.value === readmePath && !file.isDeleted.value,
  )
  const isOpen = readme !== undefined && files.current.value === readme
  const openReadme = () => {
    files.open(readme ?? files.add(readmePath, "file"))
    narrowView.value = "code"
  }
  return (
    <div class="column rail-links">
      {readme || isOwn ? (
        <button
          type="button"
          class={`row pick rail-link ${isOpen ? "tree-current" : ""}`}
          title={readme ? readmePath : "Write a readme"}
          onClick={openReadme}
        >
          <Icon name="readme" />
          <span class="fill">Readme</span>
          {readme?.isDirty.value ? (
            <>
              <span class="dot" />
              <span class="visually-hidden"> (unsaved)</span>
            </>
          ) : null}
        </button>
      ) : null}
      {isOwn ? (
        <>
          <RailLink icon="secret" label="Secrets" href={`${toHref(editing, "settings")}#secrets`} />
          <RailLink icon="data" label="Data" href={toDataHref(editing)} />
        </>
      ) : null}
    </div>
  )
}

function RailLink({ icon, label, href }: { icon: IconName; label: string; href: string }) {
  return (
    <a class="row pick rail-link" href={href}>
      <Icon name={icon} /> {label}
    </a>
  )
}

/** In the bar: shows or hides the tree; a val with one file has none, and a quiet way to a second. */
export function FilesButton({ editing, isOwn }: Pick<Props, "editing" | "isOwn">) {
  const { isTreeOpen } = layout.value
  if (hasTree(editing.files.all.value))
    return (
      <IconButton
        icon="panelLeft"
        class="pane-toggle"
        label="Files beside the code"
        title="Files beside the code (Ctrl B)"
        aria-pressed={isTreeOpen}
        onClick={() => changeLayout({ isTreeOpen: !isTreeOpen })}
      />
    )
  if (!isOwn) return null
  return (
    <button
      type="button"
      class="pick nowrap add-file"
      aria-haspopup="dialog"
      onClick={() => {
        newEntry.value = { kind: "file", parent: "" }
      }}
    >
      + file
    </button>
  )
}

/** New files are where the user is. */
function findParent({ files }: ValTabProps["editing"]): string {
  return toParentPath(files.current.peek()?.path.peek() ?? "")
}
