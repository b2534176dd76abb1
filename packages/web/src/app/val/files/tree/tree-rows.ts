import { readmePath } from "@hamlet/contract/entry-file"
import { joinPath, toFileName, toParentPath } from "@hamlet/contract/file-paths"
import type { EditedFile } from "../edited-file.ts"

/** A row of the tree: a file or a folder. */
export interface TreeRow {
  /** Stays the same while the file is renamed. */
  readonly key: string
  readonly path: string
  readonly name: string
  /** From 1, for what is in the root. */
  readonly level: number
  /** From 1, among the rows of the same folder. */
  readonly index: number
  readonly count: number
  readonly isFolder: boolean
  /** Whether the content of a folder is shown. */
  readonly isOpen: boolean
  readonly isDeleted: boolean
  /** Undefined for a folder that exists only because of new files in it. */
  readonly file: EditedFile | undefined
}

interface Folder {
  readonly path: string
  file: EditedFile | undefined
  /** Whether something in it is not deleted. */
  isUsed: boolean
  readonly folders: Map<string, Folder>
  readonly files: EditedFile[]
}

const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" })

/** The visible rows: folders first, then by name. The readme has a place of its own. */
export function toTreeRows(
  files: readonly EditedFile[],
  closed: ReadonlySet<string>,
): readonly TreeRow[] {
  return listRows(toRoot(files), 1, closed)
}

/** Whether a val has more than one file to choose from, also if one of them is not saved yet. */
export function hasTree(files: readonly EditedFile[]): boolean {
  const own = files.filter((file) => file.path.value !== readmePath)
  return own.length > 1
}

function toRoot(files: readonly EditedFile[]): Folder {
  const root = toFolder("")
  for (const file of files) {
    const path = file.path.value
    const isDeleted = file.isDeleted.value
    if (file.type.value === "directory") {
      const folder = findFolder(root, path, !isDeleted)
      if (!folder.file || !isDeleted) folder.file = file
    } else if (path !== readmePath)
      findFolder(root, toParentPath(path), !isDeleted).files.push(file)
  }
  return root
}

function toFolder(path: string): Folder {
  return { path, file: undefined, isUsed: false, folders: new Map(), files: [] }
}

function findFolder(root: Folder, path: string, isUsed: boolean): Folder {
  let folder = root
  for (const name of path === "" ? [] : path.split("/")) {
    const inner = folder.folders.get(name) ?? toFolder(joinPath(folder.path, name))
    folder.folders.set(name, inner)
    inner.isUsed ||= isUsed
    folder = inner
  }
  return folder
}

function listRows(
  { folders, files }: Folder,
  level: number,
  closed: ReadonlySet<string>,
): readonly TreeRow[] {
  const count = folders.size + files.length
  const sorted = [...folders.values()].toSorted((one, other) =>
    collator.compare(one.path, other.path),
  )
  const rows = sorted.flatMap((folder, at) => {
    const { path, file, isUsed } = folder
    // A deleted folder is one row, and is restored as a whole.
    const isOpen = isUsed && !closed.has(path)
    const row = {
      key: file?.key ?? `folder ${path}`,
      path,
      name: toFileName(path),
      level,
      index: at + 1,
      count,
      isFolder: true,
      isOpen,
      isDeleted: !isUsed,
      file,
    }
    return [row, ...(isOpen ? listRows(folder, level + 1, closed) : [])]
  })
  const own = files
    .map((file) => ({ file, path: file.path.value }))
    .toSorted((one, other) => collator.compare(one.path, other.path))
    .map(({ file, path }, at) => ({
      key: file.key,
      path,
      name: toFileName(path),
      level,
      index: folders.size + at + 1,
      count,
      isFolder: false,
      isOpen: false,
      isDeleted: file.isDeleted.value,
      file,
    }))
  return [...rows, ...own]
}
